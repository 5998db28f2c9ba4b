"""A compiler with policies warns once where one decides that was never measured there."""

import pathlib
import subprocess
import tempfile
import unittest

from mlgo.problems.problem import load_problem
from mlgo.problems.slots import policy_slots
from mlgo.run.locate import runfile
from tests.compilers import pressure
from tests.compilers.calls import calls_of_helpers
from tests.compilers.profiles import profiled

CLANG, DEVELOPMENT = "release/clang", "development/clang"
OFF = ("-mllvm", "-mlgo-warn-unmeasured=false")
EVICTION = load_problem("regalloc_eviction").release_flags()
TRIPLES = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu", "arm": "thumbv7em-none-eabi"} | {
    "riscv64": "riscv64-linux-gnu",
    "powerpc64le": "powerpc64le-linux-gnu",
    "wasm32": "wasm32-unknown-unknown",
    "i386": "i386-linux-gnu",
}


class UnmeasuredTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        text = calls_of_helpers("x") + pressure.loop("int", pressure.ARITHMETIC["integer"], 40, seed=1)
        (self.folder / "x.c").write_text(text, encoding="utf-8")

    def run_clang(self, *words: str, program: str = CLANG) -> str:
        """What a compile that must succeed says."""
        command = [runfile(program), "-c", "x.c", "-o", "x.o", *words]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_targets(self):
        for slot in policy_slots().values():
            problem = load_problem(slot["problem"])
            words = [f"-{problem.levels.advised}", *problem.release_flags()]
            for architecture, triple in TRIPLES.items():
                # The back end of WebAssembly allocates registers in another way.
                if architecture == "wasm32" and slot["decides_in"] == "all functions":
                    continue
                with self.subTest(slot["problem"], architecture=architecture):
                    said = self.run_clang(f"--target={triple}", *words, "-Werror")
                    if architecture in slot["measured_on"].split():
                        self.assertEqual(said, "")
                    else:
                        self.assertEqual(said.count(f"was measured for {architecture}, and"), 1, said)
                        self.assertIn(f"warning: -{slot['advisor_flag']}=release: no policy for ", said)
                    self.assertEqual(self.run_clang(f"--target={triple}", *words, *OFF), "")

    def test_classes_of_more_registers_than_the_model_has_positions(self):
        (self.folder / "x.c").write_text(
            pressure.VECTOR + pressure.loop("vector", pressure.ARITHMETIC["floating"], 80, seed=1)
        )
        said = self.run_clang(*pressure.LARGE[0].flags, "-O2", *EVICTION)
        self.assertEqual(said.count("has 64 registers, and the model has positions for 32"), 1, said)
        self.assertEqual(self.run_clang(*pressure.LARGE[0].flags, "-O2", *EVICTION, *OFF), "")
        for target in pressure.SMALL[:5]:
            with self.subTest(target.name):
                self.assertNotIn("positions", self.run_clang(*target.flags, "-O2", *EVICTION))

    def test_profiles(self):
        listing = "define i32 @f(i32 %x) {\n  ret i32 %x\n}\n!llvm.module.flags = !{!97}\n"
        listing = profiled(listing, 5, 5) + '!97 = !{i32 1, !"wchar_size", i32 4}\n'
        (self.folder / "x.ll").write_text(listing)
        words = ("--target=x86_64-linux-gnu", "-O2", "-c", "x.ll", "-o", "x.o", "-Wno-override-module", "-Werror")
        for more, warns in (
            (EVICTION, True),
            ((*EVICTION, *OFF), False),
            ((), False),
            ((*EVICTION, "-mllvm", "-mlgo-allocations=18"), False),
        ):
            with self.subTest(more):
                command = [runfile(CLANG), *words, *more]
                done = subprocess.run(
                    command, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False
                )
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual("the module has a profile" in done.stderr, warns, done.stderr)
                if not warns:
                    self.assertEqual(done.stderr, "")

    def test_a_search_asks_for_no_policy(self):
        self.assertEqual(self.run_clang("--target=powerpc64le-linux-gnu", "-Oz", "-mllvm", "-mlgo-search=3"), "")

    def test_compilers_for_training_do_not_warn(self):
        for mode, log in (
            ("-enable-ml-inliner=development", "-training-log=log"),
            ("-regalloc-enable-advisor=development", "-regalloc-training-log=log"),
        ):
            words = ("--target=powerpc64le-linux-gnu", "-Oz", "-mllvm", mode, "-mllvm", log)
            self.assertEqual(self.run_clang(*words, program=DEVELOPMENT), "")


if __name__ == "__main__":
    unittest.main()
