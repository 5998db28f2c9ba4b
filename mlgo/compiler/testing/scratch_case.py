"""Where tests that start compilers work."""

import pathlib
import tempfile
import unittest


class ScratchTestCase(unittest.TestCase):
    """Each test has a temporary folder `root`; compiles use its folder `work`, which is empty at first."""

    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.work = self.root / "work"
        self.work.mkdir()
