"""Which words of a command name files."""

import pathlib
import tempfile
import unittest

from mlgo.corpus.options.named_files import named_files


class NamedFilesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("a.profdata", "p.so", "raw/default.profdata", "x.rsp", "my.decisions"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).touch()

    def names(self, *words, relative=False):
        return [str(path.relative_to(self.folder)) for path in named_files(words, self.folder if relative else None)]

    def test_absolute_names(self):
        folder = self.folder
        self.assertEqual(self.names(f"-fprofile-use={folder}/a.profdata", "-O2"), ["a.profdata"])
        self.assertEqual(self.names(f"-fprofile-use={folder}/raw"), ["raw/default.profdata"])
        self.assertEqual(self.names("-load", f"{folder}/p.so", f"-fplugin={folder}/p.so"), ["p.so"])
        self.assertEqual(self.names("-mllvm", f"-mlgo-decisions={folder}/my.decisions"), ["my.decisions"])
        self.assertEqual(self.names(f"-Wl,--version-script={folder}/a.profdata,{folder}/p.so"), ["a.profdata", "p.so"])
        self.assertEqual(self.names(f"@{folder}/x.rsp", f"-include{folder}/p.so"), ["x.rsp", "p.so"])

    def test_relative_names_need_a_folder(self):
        words = ("-fprofile-use=a.profdata", "p.so", "@x.rsp")
        self.assertEqual(self.names(*words), [])
        self.assertEqual(self.names(*words, relative=True), ["a.profdata", "p.so", "x.rsp"])

    def test_what_is_no_file(self):
        words = ("-I/usr", str(self.folder), "-DX=/nowhere/x", "\0", "/" * 5000, "", "-", "=", "files/0123-x")
        self.assertEqual(self.names(*words), [])
        self.assertEqual(self.names(*words, relative=True), [])


if __name__ == "__main__":
    unittest.main()
