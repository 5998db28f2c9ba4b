import json
import pathlib
import tempfile
import unittest

from models import published


class DifferingTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folders = (pathlib.Path(scratch.name, "old"), pathlib.Path(scratch.name, "new"))
        for folder in self.folders:
            folder.mkdir()

    def differing(self, name, old, new):
        for folder, content in zip(self.folders, (old, new), strict=True):
            file, key = published.file_and_key(name)
            folder.joinpath(file).write_text(json.dumps({key: content, "other": str(folder)}) if key else content)
        return published.differing(*self.folders, [name])

    def test_whole_files(self):
        self.assertEqual(self.differing("a.csv", "1,2", "1,2"), [])
        self.assertEqual(self.differing("a.csv", "1,2", "1,3"), ["a.csv"])

    def test_one_key_without_times(self):
        self.assertEqual(self.differing("r.json#size", {"n": 1, "cpu_seconds": 2}, {"n": 1, "cpu_seconds": 3}), [])
        self.assertEqual(self.differing("r.json#size", {"n": 1}, {"n": 1.0001}), ["r.json#size"])

    def test_one_key_with_tolerance(self):
        self.assertEqual(self.differing("r.json~run", {"n": 10000}, {"n": 10004}), [])
        self.assertEqual(self.differing("r.json~run", {"n": 10000}, {"n": 10006}), ["r.json~run"])

    def test_missing_file(self):
        self.folders[0].joinpath("a.csv").write_text("1")
        self.assertEqual(published.differing(*self.folders, ["a.csv"]), ["a.csv"])


if __name__ == "__main__":
    unittest.main()
