"""Programs linked from any LLVM produce the packaged programs' output, and the training clangs write equal logs.

Meant for --config=llvm_from_source; without it the archives of the packages are compared with the programs of the
packages.
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

from mlgo.corpus.corpus import Module
from mlgo.problems.problem import load_problem
from mlgo.run.locate import runfile
from tests.compilers.modules import compile_to_object, held_out_modules

HERE = "tests/compilers/from_source"
LEVELS = ("-O0", "-O2")
#: For size, optimised bitcode is compared instead of objects. Debian's build of DAGCombiner.cpp keeps an AND with 1 of
#: a loaded bool that every build of ours from the same source drops (with assertions and without, at -O1 and -O2): one
#: instruction, in two of the eight modules.
SIZE_LEVEL = "-Oz"
#: Each problem at a level at which its advisor is asked often.
PROBLEMS = (("regalloc_eviction", "-O2"), ("regalloc_priority", "-O2"), ("inlining_for_size", SIZE_LEVEL))
TIMEOUT_SECONDS = 300
#: Eight modules of which all observations together are smaller would prove little.
FEWEST_OBSERVATIONS = 100


def output_of(*command) -> str:
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=True, timeout=TIMEOUT_SECONDS
    ).stdout


class AgreementTest(unittest.TestCase):
    llvm: str
    clang: pathlib.Path
    clang_of_packages: pathlib.Path
    modules: list[Module]

    @classmethod
    def setUpClass(cls):
        cls.llvm = os.environ["MLGO_LLVM"]
        cls.clang = runfile("development/clang")
        cls.clang_of_packages = runfile(f"{HERE}/clang_of_packages")
        cls.modules = held_out_modules()

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_it_is_the_llvm_that_was_asked_for(self):
        version = output_of(runfile("development/llc"), "--version")
        self.assertIn("LLVM version 22.1.8", version)
        self.assertEqual("with assertions" in version, "assertions" in self.llvm, version)
        self.assertIn("clang version 22.1.8", output_of(self.clang, "--version"))
        self.assertEqual(
            output_of(self.clang, "-print-target-triple"),
            output_of(runfile(f"{HERE}/packaged_clang"), "-print-target-triple"),
        )

    def test_clang_makes_the_packaged_objects(self):
        for level in LEVELS:
            for module in self.modules:
                with self.subTest(level=level, module=module.name):
                    wanted = compile_to_object(runfile(f"{HERE}/packaged_clang"), module, level, self.folder)
                    self.assertGreater(len(wanted), 0)
                    self.assertEqual(
                        compile_to_object(self.clang, module, level, self.folder), wanted, "objects differ"
                    )

    def test_clang_optimises_for_size_as_the_packaged_one_does(self):
        for module in self.modules:
            with self.subTest(module=module.name):
                bitcode = [
                    compile_to_object(clang, module, SIZE_LEVEL, self.folder, ["-emit-llvm-bc"])
                    for clang in (runfile(f"{HERE}/packaged_clang"), self.clang)
                ]
                self.assertTrue(bitcode[0].startswith(b"BC"))
                self.assertEqual(bitcode[1], bitcode[0], "optimised bitcode differs")

    def test_opt_and_llc_make_the_packaged_output(self):
        def made_by(opt, llc, module) -> tuple[bytes, bytes]:
            optimised, assembled = self.folder / "module.bc", self.folder / "module.o"
            output_of(opt, "-O2", module.bitcode_file(), "-o", optimised)
            output_of(llc, "-O2", "-filetype=obj", optimised, "-o", assembled)
            return optimised.read_bytes(), assembled.read_bytes()

        for module in self.modules:
            with self.subTest(module=module.name):
                wanted = made_by(runfile(f"{HERE}/packaged_opt"), runfile(f"{HERE}/packaged_llc"), module)
                found = made_by(runfile("development/opt"), runfile("development/llc"), module)
                self.assertEqual(found[0], wanted[0], "bitcode differs after opt -O2")
                self.assertEqual(found[1], wanted[1], "objects of llc differ")

    def test_the_default_is_logged_alike(self):
        if self.llvm == "packages":
            self.skipTest("one and the same clang: LLVM is built from source only with --config=llvm_from_source")
        log = self.folder / "training.log"
        for name, level in PROBLEMS:
            problem = load_problem(name)
            flags = problem.development_flags(str(log), None)
            logged_bytes = 0
            for module in self.modules:
                with self.subTest(problem=name, module=module.name):
                    logs, objects = [], []
                    for clang in (self.clang_of_packages, self.clang):
                        objects.append(compile_to_object(clang, module, level, self.folder, flags))
                        logs.append(log.read_bytes())
                        log.unlink()
                    self.assertEqual(logs[1], logs[0], "training logs differ")
                    if level in LEVELS:
                        self.assertEqual(objects[1], objects[0], "objects differ while the default is logged")
                    logged_bytes += len(logs[0])
            self.assertGreater(logged_bytes, FEWEST_OBSERVATIONS * problem.observation_bytes, name)


if __name__ == "__main__":
    unittest.main()
