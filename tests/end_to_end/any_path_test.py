"""A training run in folders with any bytes in their names, in a UTF-8 locale and in an ASCII one."""

import os
import pathlib
import tempfile
import unittest
from unittest import mock

from mlgo.run.exit_codes import ExitCode
from tests.end_to_end import command

# Umlaut, a byte that is no UTF-8, Japanese, and what a shell would interpret.
ODD = os.fsdecode(b'K\xc3\xa4se \xff \xe6\x97\xa5\xe6\x9c\xac it\'s "$HOME"')

UTF8 = {"LC_ALL": "C.UTF-8"}
# Python uses UTF-8 in the C locale unless it is told not to.
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


class AnyPathTest(unittest.TestCase):
    def test_a_run_ends_with_the_same_bytes_anywhere_in_any_locale(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / ODD / "tmp").mkdir(parents=True)
            inputs = command.fake_inputs(folder / ODD / "inputs", 1)
            for output, locale in ((folder / "plain", UTF8), (folder / ODD / "output", ASCII)):
                with mock.patch.dict(os.environ, {**locale, "TMPDIR": str(folder / ODD / "tmp")}):
                    code, said = command.run(*inputs, f"--output_dir={output}", *command.TINY)
                self.assertEqual(code, ExitCode.DONE, said)
            self.assertEqual(command.differing(folder / "plain", folder / ODD / "output"), [])


if __name__ == "__main__":
    unittest.main()
