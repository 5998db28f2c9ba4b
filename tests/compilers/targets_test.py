"""Policies for targets in one compiler: a module's target selects one, which decides as in a compiler of its own."""

import pathlib
import re
import subprocess
import tempfile
import unittest
from collections.abc import Sequence

from mlgo.problems.problem import load_problem
from mlgo.problems.slots import policy_slots, selector_option
from mlgo.run.locate import runfile
from tests.compilers import pressure
from tests.compilers.calls import calls_of_helpers

SEVERAL = "tests/compilers/clang_for_targets"
#: The compilers whose only policy is the default of SEVERAL, and the one that is for ARCHITECTURES.
DEFAULT, FOR_TARGETS = "tests/compilers/cpp_clang", "tests/compilers/cpp_fewer_features_clang"
ARCHITECTURES = "aarch64 and arm and riscv32"
#: Triple -> the compiler that decides alike.
TRIPLES = {
    "aarch64-linux-gnu": FOR_TARGETS,
    "aarch64_be-linux-gnu": FOR_TARGETS,
    "armv7-linux-gnueabihf": FOR_TARGETS,
    "riscv32-none-elf": FOR_TARGETS,
    "riscv64-linux-gnu": DEFAULT,
    "thumbv7em-none-eabi": FOR_TARGETS,
    "x86_64-linux-gnu": DEFAULT,
}
PROBLEMS = [slot["problem"] for slot in policy_slots().values()]
_LIVE = 40
_NO_WARNING = ("-mllvm", "-mlgo-warn-unmeasured=false")


class TargetsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        text = calls_of_helpers("x") + pressure.loop("int", pressure.ARITHMETIC["integer"], _LIVE, seed=1)
        (self.folder / "x.c").write_text(text, encoding="utf-8")

    def run_clang(self, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        command = [str(runfile(program)), *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)

    def made(self, program: str, triple: str, *words: str, output: str = "x.o") -> bytes:
        """The file that the compiler makes. Raises: AssertionError: it says something."""
        done = self.run_clang(program, f"--target={triple}", *words, "-o", output, *_NO_WARNING)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return (self.folder / output).read_bytes()

    def compiled(self, program: str, triple: str, problem: str, more: Sequence[str] = ()) -> bytes:
        level = f"-{load_problem(problem).levels.advised}"
        return self.made(program, triple, level, *load_problem(problem).release_flags(), *more, "-c", "x.c")

    def test_each_target_has_its_policy(self):
        for problem in PROBLEMS:
            for triple, alike in TRIPLES.items():
                with self.subTest(problem, triple=triple):
                    wanted = {program: self.compiled(program, triple, problem) for program in (DEFAULT, FOR_TARGETS)}
                    self.assertIs(wanted[DEFAULT] == wanted[FOR_TARGETS], False, "the policies decide alike")
                    self.assertIs(self.compiled(SEVERAL, triple, problem) == wanted[alike], True)

    def test_a_selector_overrides_the_target(self):
        for problem in PROBLEMS:
            for name, alike, triple in (
                ("random", DEFAULT, "aarch64-linux-gnu"),
                ("fewer-features", FOR_TARGETS, "x86_64-linux-gnu"),
            ):
                with self.subTest(problem, name=name):
                    found = self.compiled(SEVERAL, triple, problem, selector_option(problem, name))
                    self.assertIs(found == self.compiled(alike, triple, problem), True)

    def test_the_linker_chooses_by_the_target_too(self):
        on = [word for problem in PROBLEMS for word in load_problem(problem).release_flags()]
        for kind in ("-flto", "-flto=thin"):
            for triple, alike in (("aarch64-linux-gnu", FOR_TARGETS), ("x86_64-linux-gnu", DEFAULT)):
                with self.subTest(kind, triple=triple):
                    compiled = [kind, "-Oz", "-fPIC", "-Xclang", "-disable-llvm-passes", "-c", "x.c"]
                    self.made(SEVERAL, triple, *compiled)
                    images = [
                        self.made(
                            program, triple, "-Oz", "-Werror", kind, "-shared", "-nostdlib", "x.o", *on, output="x.so"
                        )
                        for program in (SEVERAL, DEFAULT, FOR_TARGETS)
                    ]
                    self.assertIs(images[0] == images[[DEFAULT, FOR_TARGETS].index(alike) + 1], True)
                    self.assertIs(images[1] == images[2], False, "the policies decide alike")

    def test_lists_name_the_targets(self):
        lines = [line for line in self.run_clang(SEVERAL, "--version").stdout.splitlines() if "mlgo policy" in line]
        self.assertEqual(len(lines), 2 * len(PROBLEMS), lines)
        for problem, first, second in zip(PROBLEMS, lines[::2], lines[1::2]):
            self.assertRegex(first, rf"^mlgo policy: {problem}, name random \(default\), run none, ")
            self.assertRegex(second, rf"^mlgo policy: {problem}, name fewer-features, for {ARCHITECTURES}, run none, ")
            self.assertNotEqual(*[re.findall(r"sha256:\w+", line) for line in (first, second)])


if __name__ == "__main__":
    unittest.main()
