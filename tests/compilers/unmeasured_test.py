"""A compiler with policies warns once where one decides that was never measured there, or does not with a profile."""

import pathlib
import subprocess
import tempfile
import unittest

from mlgo.compiler.training_log import read_training_log
from mlgo.problems.problem import load_problem
from mlgo.problems.slots import policy_slots
from mlgo.run.locate import runfile
from tests.compilers import pressure
from tests.compilers.calls import calls_of_helpers
from tests.compilers.profiles import profiled

CLANG, DEVELOPMENT = "release/clang", "development/clang"
OFF = ("-mllvm", "-mlgo-warn-unmeasured=false")
EVICTION = load_problem("regalloc_eviction").release_flags()
_X86 = ("--target=x86_64-linux-gnu",)
TRIPLES = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu", "arm": "thumbv7em-none-eabi"} | {
    "riscv64": "riscv64-linux-gnu",
    "powerpc64le": "powerpc64le-linux-gnu",
    "wasm32": "wasm32-unknown-unknown",
    "i386": "i386-linux-gnu",
}


class UnmeasuredTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        text = calls_of_helpers("x") + pressure.loop("int", pressure.ARITHMETIC["integer"], 40, seed=1)
        (self.folder / "x.c").write_text(text, encoding="utf-8")

    def run_clang(self, *words: str, program: str = CLANG, source: str = "x.c", makes: str = "-c") -> str:
        """What a compile that must succeed says."""
        command = [str(runfile(program)), makes, source, "-o", "x.o", *words]
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

    def test_with_a_profile_the_heuristic_decides(self):
        module = self.listing()
        default, policy, with_profile = (
            self.compiled(text, *flags, *OFF)
            for text, flags in ((module, ()), (module, EVICTION), (profiled(module, 5, 5), ()))
        )
        self.assertNotEqual(default, policy)
        module = profiled(module, 5, 5)
        for more, is_default, warns in (
            ((), True, True),
            (OFF, True, False),
            (("-mllvm", "-mlgo-policy-with-profile"), False, False),
            (("-mllvm", "-mlgo-allocations=1"), False, False),
            (("-mllvm", "-mlgo-allocations=18"), False, False),
            (("-mllvm", "-mlgo-allocations-with-profile=18"), False, False),
        ):
            with self.subTest(more):
                self.assertEqual(self.compiled(module, *EVICTION, *more, warns=warns) == with_profile, is_default)

    def listing(self) -> str:
        """IR of x.c, optimised."""
        self.run_clang(*_X86, "-O2", "-emit-llvm", makes="-S")
        return (self.folder / "x.o").read_text(encoding="utf-8")

    def compiled(self, module: str, *words: str, warns: bool = False) -> bytes:
        """The object of a listing of IR. The compile must succeed, and say once that there is a profile if `warns`."""
        (self.folder / "x.ll").write_text(module, encoding="utf-8")
        said = self.run_clang(*_X86, "-O2", "-Wno-override-module", "-Werror", *words, source="x.ll")
        self.assertEqual(said.count("the module has a profile, so LLVM's heuristic decides"), int(warns), said)
        self.assertEqual(said.count("\n"), int(warns), said)
        return (self.folder / "x.o").read_bytes()

    def test_training_logs_have_decisions_with_a_profile(self):
        (self.folder / "x.ll").write_text(profiled(self.listing(), 5, 5), encoding="utf-8")
        problem = load_problem("regalloc_eviction")
        logged = problem.development_flags(str(self.folder / "log"), None)
        self.run_clang(*_X86, "-O2", "-Wno-override-module", *logged, program=DEVELOPMENT, source="x.ll")
        self.assertGreater(read_training_log(str(self.folder / "log"), problem).observation_count, 0)

    def test_a_search_asks_for_no_policy(self):
        for words in (("-mllvm", "-mlgo-search=3"), ("--config=mlgo-size.cfg",)):
            self.assertEqual(self.run_clang("--target=powerpc64le-linux-gnu", "-Oz", *words), "")

    def test_compilers_for_training_do_not_warn(self):
        for mode, log in (
            ("-enable-ml-inliner=development", "-training-log=log"),
            ("-regalloc-enable-advisor=development", "-regalloc-training-log=log"),
        ):
            words = ("--target=powerpc64le-linux-gnu", "-Oz", "-mllvm", mode, "-mllvm", log)
            self.assertEqual(self.run_clang(*words, program=DEVELOPMENT), "")


if __name__ == "__main__":
    unittest.main()
