"""Where tests that start compilers work."""

import pathlib
import tempfile
import unittest


class ScratchTestCase(unittest.TestCase):
    """Each test has a temporary folder `root`; compiles use its folder `work`, which is empty at first."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        self.work = self.root / "work"
        self.work.mkdir()
