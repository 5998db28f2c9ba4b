"""The reports of the shipped policies equal what //mlgo:report writes, byte for byte. Argument: llvm-cxxfilt."""

import pathlib
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


class ShippedReportsTest(unittest.TestCase):
    def test_reports_are_up_to_date(self):
        folders = sorted(path.parent for path in _WORKSPACE.glob("models/*/policy"))
        self.assertEqual(len(folders), 3)
        for folder in folders:
            with self.subTest(policy=folder.name):
                command = page_command([(folder.name, folder)], _WORKSPACE)
                page = compose(read_folder(folder, folder.name, _WORKSPACE), command, Demangler(CXXFILT))
                remedy = f"out of date; run: ./bazelw run //mlgo:report -- models/{folder.name}"
                self.assertTrue((folder / "report.html").read_bytes() == html(page), f"report.html is {remedy}")
                self.assertTrue((folder / "report.md").read_bytes() == markdown(page), f"report.md is {remedy}")


if __name__ == "__main__":
    unittest.main()
