"""The reports of the shipped policies say and draw what //mlgo:report writes, byte for byte but for the style sheet: a
change of the style changes no result, and would rewrite 1 MB. Argument: llvm-cxxfilt.
"""

import pathlib
import re
import sys
import unittest

from mlgo.compiler.symbols import Demangler
from mlgo.reporting.compose import compose
from mlgo.reporting.markdown import markdown
from mlgo.reporting.provenance import page_command
from mlgo.reporting.reading import read_folder
from mlgo.reporting.rendering import html

CXXFILT = pathlib.Path(sys.argv.pop(1)).absolute()
_WORKSPACE = pathlib.Path(__file__).parents[1]


_STYLE = re.compile(rb"<style>.*?</style>", re.DOTALL)


def without_style(page: bytes) -> bytes:
    """A page with an empty style sheet; it must have one."""
    found, count = _STYLE.subn(b"<style></style>", page)
    if count != 1:
        raise AssertionError(f"a report has {count} style sheets")
    return found


class ShippedReportsTest(unittest.TestCase):
    def test_reports_are_up_to_date(self):
        folders = sorted(path.parent for path in _WORKSPACE.glob("models/*/policy"))
        self.assertEqual(len(folders), 3)
        for folder in folders:
            with self.subTest(policy=folder.name):
                command = page_command([(folder.name, folder)], _WORKSPACE)
                page = compose(read_folder(folder, folder.name, _WORKSPACE), command, Demangler(CXXFILT))
                remedy = f"out of date; run: ./bazelw run //mlgo:report -- models/{folder.name}"
                shipped, written = ((folder / "report.html").read_bytes(), html(page))
                self.assertTrue(without_style(shipped) == without_style(written), f"report.html is {remedy}")
                self.assertTrue((folder / "report.md").read_bytes() == markdown(page), f"report.md is {remedy}")


if __name__ == "__main__":
    unittest.main()
