"""A module whose command writes files or starts a program does neither on a node: it is refused, or walls stop it."""

import contextlib
import io
import pathlib
import subprocess
import tempfile
import unittest

from mlgo.cluster.executors import ray_executor
from mlgo.compiler.compile import compiler_environment
from mlgo.compiler.executor import Executor
from mlgo.compiler.request import CompileFailure, CompileRequest, CompileResult
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.writer import CorpusWriter
from mlgo.run import locate
from mlgo.run.exit_codes import RunError
from tests.cluster.local_cluster import LocalCluster

# The optimiser changes it, so that there is something to print.
_MODULE = b"""
target triple = "x86_64-pc-linux-gnu"
define i32 @f(i32 %a, i32 %b) {
  %c = add i32 %a, 0
  %d = mul i32 %c, %b
  ret i32 %d
}
"""
_COMMAND = ("-triple", "x86_64-pc-linux-gnu", "-O2")


class HostileModuleTest(unittest.TestCase):
    root: pathlib.Path
    clang: pathlib.Path
    executor: Executor
    harm: pathlib.Path
    program: pathlib.Path

    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.clang = locate.runfile("development/clang")
        cluster = cls.enterClassContext(LocalCluster(cls.root / "cache"))
        cluster.start_node(1)
        with contextlib.redirect_stderr(io.StringIO()):
            cls.executor = ray_executor(cluster.address)
        cls.addClassCleanup(cls.executor.close)
        cls.harm = cls.root / "harm"
        cls.program = cls.root / "program"
        cls.program.write_text(f"#!/bin/sh\ntouch {cls.harm}\n", encoding="utf-8")
        cls.program.chmod(0o755)

    def attempts(self) -> dict[str, list[str]]:
        """Name of an attempt -> options that do harm when the compile succeeds without walls."""
        return {
            "writes": [f"-ir-dump-directory={self.harm}", "-print-after=instcombine"],
            "executes": ["-print-changed=diff", f"-print-changed-diff-path={self.program}"],
        }

    def corpus(self, name: str, options: list[str]) -> pathlib.Path:
        folder = self.root / name
        with CorpusWriter(folder) as writer:
            writer.add("m", _MODULE, (*_COMMAND, *(word for option in options for word in ("-mllvm", option))))
            writer.finish()
        return folder

    def compiled(self, corpus: Corpus):
        request = CompileRequest(self.clang, corpus.modules[0], want_log=False, want_object=True)
        (outcome,) = self.executor.run_ordered([request])
        return outcome

    def test_nothing_happens_on_a_node(self):
        for name, options in self.attempts().items():
            with self.subTest(name):
                folder = self.corpus(name, options)
                with self.assertRaisesRegex(RunError, "which may do more than change code"):
                    self.compiled(Corpus.load(folder))
                # As if the filter of options had let them through.
                allowed = [f"-mllvm {option.partition('=')[0]}" for option in options]
                outcome = self.compiled(Corpus.load(folder, allowed))
                self.assertFalse(self.harm.exists(), outcome)
                # Stopped by the walls while it compiled; a diff that does not start is no error of clang.
                if isinstance(outcome, CompileFailure):
                    self.assertIn("Permission denied", outcome.detail)
                # The harm is real: the compiler itself does it.
                words = [word for option in options for word in ("-mllvm", option)]
                output = ["-emit-obj", "-o", str(self.root / "m.o")]
                command = [str(self.clang), "-cc1", *_COMMAND, *words, *output, "-x", "ir", str(folder / "m.bc")]
                subprocess.run(command, env=compiler_environment(), capture_output=True, check=False)
                self.assertTrue(self.harm.exists())
                subprocess.run(["rm", "-r", self.harm], check=True)

    def test_an_ordinary_module_compiles_there(self):
        self.assertIsInstance(self.compiled(Corpus.load(self.corpus("ordinary", []))), CompileResult)


if __name__ == "__main__":
    unittest.main()
