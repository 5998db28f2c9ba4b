import pathlib
import tempfile
import unittest

from tests.cluster import speed


class SpeedTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_limit_in_version_1(self):
        speed.Group(self.folder).limit(0.25)
        self.assertEqual((self.folder / "cpu.cfs_period_us").read_text(), "100000")
        self.assertEqual((self.folder / "cpu.cfs_quota_us").read_text(), "25000")

    def test_limit_in_version_2(self):
        (self.folder / "cpu.max").touch()
        speed.Group(self.folder).limit(1.5)
        self.assertEqual((self.folder / "cpu.max").read_text(), "150000 100000")


if __name__ == "__main__":
    unittest.main()
