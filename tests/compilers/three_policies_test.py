"""Three policies in one compiler, alone and together, decide equally embedded (both backends) and as TFLite."""

import pathlib
import subprocess
import tempfile
import unittest

from mlgo.corpus.corpus import Module
from mlgo.problems.problem import load_problem
from mlgo.run.locate import runfile
from tests.compilers.modules import SIZE_CORPUS, compile_to_object, held_out_modules, pipeline_for_size

#: Short name in tests/policies -> problem.
PROBLEMS = {"eviction": "regalloc_eviction", "inlining": "inlining_for_size", "priority": "regalloc_priority"}
#: Policies that are switched on together, and the optimisation level.
COMBINATIONS = [(("eviction",), "-O2"), (("inlining",), "-Oz"), (("priority",), "-O2"), (tuple(PROBLEMS), "-Oz")]
BACKENDS = ("cpp", "aot")
_EVERY = 4  # Two of the eight modules: seven compiles of each for every combination.


def release_flags(names):
    return [flag for name in names for flag in load_problem(PROBLEMS[name]).release_flags()]


def development_flags(names, kind="random"):
    flags = []
    for name in names:
        model = runfile(f"tests/policies/{kind}_{name}_tflite/model.tflite").parent
        flags += load_problem(PROBLEMS[name]).development_flags(None, str(model))
    return flags


def without_mllvm(flags):
    """The flags of opt and llc for these flags of clang."""
    return [flag for flag in flags if flag != "-mllvm"]


class ThreePoliciesTest(unittest.TestCase):
    modules: dict[str, list[Module]]

    @classmethod
    def setUpClass(cls):
        cls.modules = {"-O2": held_out_modules()[::_EVERY], "-Oz": held_out_modules(SIZE_CORPUS)[::_EVERY]}

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def objects(self, program, level, flags=()):
        modules = self.modules[level]
        return [compile_to_object(runfile(program), module, level, self.folder, flags) for module in modules]

    def compare(self, programs, names, level, kind="random"):
        wanted = self.objects("development/clang", level, development_flags(names, kind))
        for program in programs:
            found = self.objects(program, level, release_flags(names))
            for module, one, other in zip(self.modules[level], found, wanted):
                self.assertEqual(one, other, f"{module.name}: {program} and //development:clang differ")
        self.assertNotEqual(
            wanted, self.objects("development/clang", level), f"{names} changed no object: were they asked?"
        )

    def test_each_alone_and_all_together(self):
        programs = [f"tests/compilers/{backend}_clang" for backend in BACKENDS]
        for names, level in COMBINATIONS:
            with self.subTest(names=names, level=level):
                self.compare(programs, names, level)

    def test_policies_that_know_fewer_features(self):
        programs = [f"tests/compilers/{backend}_fewer_features_clang" for backend in BACKENDS]
        self.compare(programs, tuple(PROBLEMS), "-Oz", kind="fewer_features")

    def run_tool(self, program, *arguments):
        output = self.folder / "out"
        command = [runfile(program), *arguments, "-o", output]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return output.read_bytes()

    def test_opt_inlines_alike(self):
        bitcode = self.modules["-Oz"][0].bitcode_file()
        pipeline = [pipeline_for_size(runfile("tests/compilers/opt")), bitcode]
        embedded = self.run_tool("tests/compilers/opt", *pipeline, *without_mllvm(release_flags(["inlining"])))
        interpreted = self.run_tool("development/opt", *pipeline, *without_mllvm(development_flags(["inlining"])))
        self.assertEqual(embedded, interpreted)
        self.assertNotEqual(
            embedded, self.run_tool("tests/compilers/opt", *pipeline), "the policy changed nothing: was it asked?"
        )

    def test_llc_allocates_alike(self):
        bitcode = self.modules["-O2"][0].bitcode_file()
        names = ["eviction", "priority"]
        arguments = ["-O2", "-filetype=obj", bitcode]
        embedded = self.run_tool("tests/compilers/llc", *arguments, *without_mllvm(release_flags(names)))
        interpreted = self.run_tool("development/llc", *arguments, *without_mllvm(development_flags(names)))
        self.assertEqual(embedded, interpreted)
        self.assertNotEqual(
            embedded, self.run_tool("tests/compilers/llc", *arguments), "the policies changed nothing: were they asked?"
        )


if __name__ == "__main__":
    unittest.main()
