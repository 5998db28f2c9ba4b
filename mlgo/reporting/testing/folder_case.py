"""Where tests make results up and read them."""

import pathlib
import tempfile
import unittest

from mlgo.reporting.reading import read_folder
from mlgo.reporting.records import Record


class FolderTestCase(unittest.TestCase):
    """Each test has a temporary folder `folder`."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def read(self, name: str) -> list[Record]:
        """The records in the folder `name` of `folder`."""
        return read_folder(self.folder / name, name, None)
