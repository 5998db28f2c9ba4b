"""Exit codes of modules that pass, fail, or hold no test; arguments of a test."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from toolchains.python.unit_tests import main

_CASE = """
import sys
import unittest

word = sys.argv.pop(1)

class Case(unittest.TestCase):
"""
_TESTS = """
    def test_x(self):
        self.assertEqual(word, "x")
    def test_y(self):
        self.assertEqual(word, "y")
"""


class MainTest(unittest.TestCase):
    def ended(self, text: str, *arguments: str) -> int:
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "made_up.py").write_text(text, encoding="utf-8")
            words = [sys.executable, os.path.abspath(main.__file__), "made_up", *arguments]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join([folder, *sys.path])}
            return subprocess.run(words, env=environment, stderr=subprocess.DEVNULL, check=False).returncode

    def test_exit_codes(self):
        for arguments, code in ((["x"], 1), (["x", "Case.test_x"], 0), (["x", "Case.test_y"], 1), ([], 1)):
            self.assertEqual(self.ended(_CASE + _TESTS, *arguments), code, arguments)

    def test_a_module_without_a_test_fails(self):
        self.assertEqual(self.ended(_CASE + "    pass\n", "x"), 1)
