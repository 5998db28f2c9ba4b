"""Several policies for a problem in one compiler: an option selects one, which decides as in a compiler of its own."""

import pathlib
import re
import subprocess
import tempfile
import unittest
from collections.abc import Sequence

from mlgo.problems.problem import load_problem
from mlgo.problems.slots import policy_slots, selector_option
from mlgo.run.locate import runfile
from tests.compilers.calls import calls_of_helpers
from tests.compilers.modules import SIZE_CORPUS, compile_to_object, held_out_modules

SEVERAL, OF_AOT = "tests/compilers/several_clang", "tests/compilers/aot_several_clang"
#: The names of the policies, the default first -> the compiler that has this policy alone for each problem.
ALONE = {"random": "tests/compilers/cpp_clang", "fewer-features": "tests/compilers/cpp_fewer_features_clang"}
PROBLEMS = [slot["problem"] for slot in policy_slots().values()]
_EVERY = 2
_RECORD = r"run none, made up \(random\), seed \d+, sha256:([0-9a-f]{16}), backend "


class SelectorTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "x.c").write_text(calls_of_helpers("x"), encoding="utf-8")

    def objects(self, program: str, problem: str, flags: Sequence[str] = ()) -> list[bytes]:
        corpus, level = (
            (SIZE_CORPUS, "-Oz") if problem == "inlining_for_size" else ("mlgo/corpus/llvm_few_held_out", "-O2")
        )
        on = [*load_problem(problem).release_flags(), *flags]
        modules = held_out_modules(corpus)[::_EVERY]
        return [compile_to_object(runfile(program), module, level, self.folder, on) for module in modules]

    def test_each_policy_decides_as_alone(self):
        for problem in PROBLEMS:
            wanted = {name: self.objects(program, problem) for name, program in ALONE.items()}
            self.assertNotEqual(
                wanted["random"],
                wanted["fewer-features"],
                f"{problem}: the policies decide alike, so this test sees nothing",
            )
            for program in (SEVERAL, OF_AOT):
                with self.subTest(problem, program=program):
                    self.assertEqual(self.objects(program, problem), wanted["random"])
                    for name, found in wanted.items():
                        self.assertEqual(self.objects(program, problem, selector_option(problem, name)), found, name)

    def test_a_selector_concerns_its_problem_alone(self):
        others = [word for problem in PROBLEMS[1:] for word in selector_option(problem, "fewer-features")]
        self.assertEqual(self.objects(SEVERAL, PROBLEMS[0], others), self.objects(ALONE["random"], PROBLEMS[0]))

    def run_clang(self, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        command = [str(runfile(program)), *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)

    def test_lists_name_them_all(self):
        for program, backend in ((SEVERAL, "cpp"), (OF_AOT, "aot")):
            for words in (["--version"], ["-mllvm", "-mlgo-policies"]):
                done = self.run_clang(program, *words)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                lines = [line for line in done.stdout.splitlines() if line.startswith("mlgo policy: ")]
                titles = ("name random (default)", "name fewer-features")
                wanted = [f"mlgo policy: {problem}, {title}, " for problem in PROBLEMS for title in titles]
                self.assertEqual(len(lines), len(wanted), lines)
                digests = set()
                for line, start in zip(lines, wanted):
                    self.assertRegex(line, rf"^{re.escape(start)}{_RECORD}{backend}$")
                    digests.update(re.findall(r"sha256:(\w+)", line))
                self.assertEqual(len(digests), len(lines))

    def check_refusal(self, program: str, words: Sequence[str], sentence: str) -> None:
        done = self.run_clang(program, "-c", "x.c", "-o", "out", *words)
        self.assertEqual(done.returncode, 1, done.stderr)
        [line] = [line for line in done.stderr.splitlines() if "error" in line.lower()]
        self.assertIn(sentence, line)
        self.assertNotRegex(done.stderr, re.compile("PLEASE submit|Stack dump", re.IGNORECASE))
        self.assertFalse((self.folder / "out").exists())

    def test_an_unknown_name_is_one_sentence(self):
        for problem in PROBLEMS:
            option = selector_option(problem, "absent")
            words = [*load_problem(problem).release_flags(), *option]
            # At -O2 the inliner's default decides, and the name is wrong all the same.
            for level in ("-Oz", "-O2"):
                with self.subTest(problem, level=level):
                    self.check_refusal(
                        SEVERAL,
                        [level, *words],
                        f"{option[1]}: no policy for {problem} inside has this name; give one of random, "
                        "fewer-features, or remove the option",
                    )
            self.check_refusal(
                ALONE["random"],
                ["-Oz", *words],
                f"{option[1]}: the only policy for {problem} inside has no name; remove the option",
            )

    def test_the_linker_selects_too(self):
        on = load_problem("inlining_for_size").release_flags()
        chosen = [*on, *selector_option("inlining_for_size", "fewer-features")]
        link = ["-Oz", "-Werror", "-flto", "-shared", "-nostdlib", "x.o", "-o", "x.so"]
        compiled = self.run_clang(SEVERAL, "-Oz", "-fPIC", "-flto", "-Xclang", "-disable-llvm-passes", "-c", "x.c")
        self.assertEqual((compiled.returncode, compiled.stderr), (0, ""))
        images = []
        for program, words in ((SEVERAL, on), (ALONE["random"], on), (SEVERAL, chosen), (ALONE["fewer-features"], on)):
            done = self.run_clang(program, *link, *words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            images.append((self.folder / "x.so").read_bytes())
        self.assertIs(images[0] == images[1], True)
        self.assertIs(images[2] == images[3], True)
        self.assertIs(images[0] == images[2], False)


if __name__ == "__main__":
    unittest.main()
