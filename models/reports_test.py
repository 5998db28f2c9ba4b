"""The summaries of the shipped policies' reports are what //mlgo:report writes; the pages are not checked in.

Argument: llvm-cxxfilt.
"""

import pathlib
import sys
import unittest

from mlgo.compiler.symbols import Demangler
from mlgo.pages.markdown import summary
from mlgo.pages.rendering import html
from mlgo.reporting.compose import compose
from mlgo.reporting.reading import read_folder

CXXFILT = pathlib.Path(sys.argv.pop(1)).absolute()
_WORKSPACE = pathlib.Path(__file__).parents[1]


class ShippedReportsTest(unittest.TestCase):
    def test_summaries_are_up_to_date_and_pages_can_be_written(self):
        folders = sorted(path.parent for path in _WORKSPACE.glob("models/*/policy"))
        self.assertEqual(len(folders), 3)
        for folder in folders:
            with self.subTest(policy=folder.name):
                page = compose(read_folder(folder, folder.name, _WORKSPACE), Demangler(CXXFILT))
                remedy = f"report.md is out of date; run: ./bazelw run //mlgo:report -- models/{folder.name}"
                self.assertTrue((folder / "report.md").read_bytes() == summary(page), remedy)
                self.assertIn(b"<h1>", html(page))


if __name__ == "__main__":
    unittest.main()
