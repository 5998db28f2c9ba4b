"""Old results are never taken for new ones: each kind of input is edited, and the command is given again."""

import os
import pathlib
import shutil
import sys
import tempfile
import unittest

from mlgo.compiler.testing import fake_clang
from mlgo.identity.testing.made_up_program import program
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run.exit_codes import ExitCode
from tests.end_to_end import command
from tests.end_to_end.copied_sources import copy_sources

_OTHER_MLGO = r"holds results of another version of mlgo \(what differs: score\)"


class IdentityTest(unittest.TestCase):
    sources: pathlib.Path

    @classmethod
    def setUpClass(cls):
        cls.sources = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        copy_sources(cls.sources)

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.flags = command.fake_inputs(self.folder)
        # A wrapper, as an installed compiler may be one, of a compiler that links LLVM dynamically.
        shutil.move(self.folder / "bin", self.folder / "fake")
        (self.folder / "bin").mkdir()
        fake = fake_clang.install(self.folder / "fake", PROBLEM)
        (self.folder / "bin/clang").write_text(f'#!/bin/sh\n: {self.folder}/lib/clang\nexec {fake} "$@"\n')
        (self.folder / "bin/clang").chmod(0o755)
        (self.folder / "lib").mkdir()
        self.edit("lib/clang", program(["libLLVM.so"], "$ORIGIN"))
        (self.folder / "lib/clang").chmod(0o755)
        self.edit("lib/libLLVM.so", program())

    def edit(self, name, content):
        (self.folder / name).write_bytes(content)

    def run_command(self, name, *flags):
        path = [str(self.sources), *(each for each in sys.path if each != str(self.sources))]
        code, said = command.Command(flags, name, path).end()
        self.assertNotIn("Traceback", said)
        return code, said

    def traced(self, output="trace", *flags):
        return self.run_command(
            "generate_default_trace",
            self.flags[0],
            "--problem=regalloc_eviction",
            f"--corpus={self.folder / 'train'}",
            f"--output_dir={self.folder / output}",
            *flags,
        )

    def edit_code(self):
        """Changes what a score is, in the copy of mlgo's code."""
        path = self.sources / "mlgo/score/problem_score.py"
        before = path.read_text(encoding="utf-8")
        self.addCleanup(path.write_text, before, encoding="utf-8")
        path.write_text(f"{before}\nEDITED = True\n", encoding="utf-8")

    def assertRefused(self, found, *differences):
        code, said = found
        self.assertEqual(code, ExitCode.USER_ERROR, said)
        for each in differences:
            self.assertRegex(said, each)
        self.assertRegex(said, "Give (the old values, or )?another --output_dir, or delete")
        self.assertNotIn("done before", said)

    def test_equal_inputs(self):
        self.assertEqual(self.traced()[0], ExitCode.DONE)
        code, said = self.traced()
        self.assertEqual(code, ExitCode.DONE, said)
        self.assertIn("trace/default: done before", said)

    def test_inputs_of_a_trace(self):
        self.assertEqual(self.traced()[0], ExitCode.DONE)
        kept = command.outputs(self.folder / "trace")
        self.assertRefused(self.traced("trace", "--compile_cpu_seconds=70"), "compile_cpu_seconds: was 300, now 70")
        self.edit("lib/libLLVM.so", program(content=b"the register allocator was edited"))
        self.assertRefused(self.traced(), r"\n  inputs.clang: was '[0-9a-f]{64}', now '[0-9a-f]{64}'\n")
        self.edit("lib/libLLVM.so", program())
        self.edit("train/train/m0.cpp.bc", fake_clang.FakeModule.bitcode({"f": 30}))
        self.assertRefused(self.traced(), r"\n  inputs.corpus: was ")
        self.assertEqual(command.outputs(self.folder / "trace"), kept, "nothing is lost")

    def test_code(self):
        self.assertEqual(self.traced()[0], ExitCode.DONE)
        self.edit_code()
        self.assertRefused(self.traced(), _OTHER_MLGO)
        code, said = self.traced("fresh")
        self.assertEqual((code, said.count("done before")), (ExitCode.DONE, 0), said)
        # A folder of a version that recorded nothing: its results are not taken over either.
        os.remove(self.folder / "trace/configuration.json")
        code, said = self.traced()
        self.assertEqual(code, ExitCode.USER_ERROR, said)
        self.assertIn("holds results of an earlier version of mlgo, which does not say what they rest on", said)

    def test_nodes_of_a_cluster_get_no_libraries(self):
        clang = f"--clang={self.folder}/lib/clang"
        code, said = self.traced("cluster", clang, "--executor=ray")
        self.assertEqual(code, ExitCode.USER_ERROR, said)
        self.assertRegex(
            said, "lib/clang: loads .*/libLLVM.so, and nodes of --executor=ray get the compiler's file alone"
        )

    def train(self, *flags):
        output, cache = (f"--{name}={self.folder / name}" for name in ("output_dir", "cache_dir"))
        return self.run_command("train_regalloc", *self.flags, *command.TINY, output, cache, *flags)

    def test_a_training_run_whose_code_changed_does_not_mix(self):
        self.assertEqual(self.train()[0], ExitCode.DONE)
        shutil.rmtree(self.folder / "output_dir/held_out/policy")
        self.edit_code()
        self.assertRefused(self.train(), _OTHER_MLGO)
        self.assertRefused(self.train("--iterations=3"), _OTHER_MLGO)
        shutil.rmtree(self.folder / "output_dir")
        before = {path.name for path in (self.folder / "cache_dir").glob("??/*")}
        code, said = self.train()
        self.assertEqual(code, ExitCode.DONE, said)
        after = {path.name for path in (self.folder / "cache_dir").glob("??/*")}
        self.assertEqual(len(after), 2 * len(before), "no result of other code came from the cache")


if __name__ == "__main__":
    unittest.main()
