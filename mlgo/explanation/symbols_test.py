"""Demangling with a fake llvm-cxxfilt."""

import pathlib
import tempfile
import unittest

from mlgo.explanation.symbols import demangled
from mlgo.run.exit_codes import RunError


class SymbolsTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def _program(self, script: str) -> pathlib.Path:
        path = self.folder / "filt"
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def test_each_name_gets_its_own(self):
        program = self._program("sed 's/_Z1fv/f()/'")
        self.assertEqual(demangled(program, ["main", "_Z1fv", "main"]), {"main": "main", "_Z1fv": "f()"})

    def test_without_a_program_names_stay(self):
        self.assertEqual(demangled(None, ["_Z1fv"]), {"_Z1fv": "_Z1fv"})

    def test_a_program_that_does_something_else_is_refused(self):
        for script, wrong in (("cat; echo more", "gave 3 lines for 2 names"), ("exit 3", "cannot be used: .*status 3")):
            with self.assertRaisesRegex(RunError, wrong):
                demangled(self._program(script), ["a", "b"])


if __name__ == "__main__":
    unittest.main()
