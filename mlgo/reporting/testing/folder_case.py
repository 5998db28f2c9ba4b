"""Where tests make results up and read them, and what they ask of pages."""

import pathlib
import tempfile
import unittest

from mlgo.pages.page import Page, Point
from mlgo.reporting.reading import read_folder
from mlgo.reporting.records import Record


def verdict_of(page: Page) -> Point:
    """The verdict of a page that has one."""
    assert page.verdict is not None
    return page.verdict


class FolderTestCase(unittest.TestCase):
    """Each test has a temporary folder `folder`."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def read(self, name: str) -> list[Record]:
        """The records in the folder `name` of `folder`."""
        return read_folder(self.folder / name, name, None)
