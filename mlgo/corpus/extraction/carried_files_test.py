"""Tests of mlgo.corpus.extraction.carried_files: no file outside of the build becomes a part of a corpus."""

import os
import pathlib
import tempfile
import unittest

from mlgo.corpus.extraction.carried_files import FileRoots, roots_of_build
from mlgo.run.exit_codes import RunError


class FileRootsTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(os.path.realpath(scratch.name))
        self.build, self.outside = self.root / "build", self.root / "build-of-others"
        for folder in (self.build, self.outside):
            (folder / "below").mkdir(parents=True)
            (folder / "below" / "a.profdata").write_text("")

    def test_files_of_the_build(self):
        (self.build / "link").symlink_to("below/a.profdata")
        for name in ("below/a.profdata", "link", "below/../below/a.profdata"):
            FileRoots([self.build]).check(self.build / name)
        FileRoots([self.root / "absent", self.outside]).check(self.outside / "below" / "a.profdata")

    def test_a_root_may_be_a_link(self):
        (self.root / "home").symlink_to("build")
        FileRoots([self.root / "home"]).check(self.build / "below" / "a.profdata")
        FileRoots([self.build]).check(self.root / "home" / "below" / "a.profdata")

    def test_files_outside_are_refused_by_name_with_the_flag(self):
        (self.build / "link").symlink_to(self.outside / "below")
        (self.build / "circle").symlink_to("circle")
        for path in (
            "/etc/hostname",
            self.outside / "below" / "a.profdata",
            self.build / "link" / "a.profdata",
            self.build / ".." / "build-of-others" / "below" / "a.profdata",
        ):
            with self.subTest(path):
                folder = os.path.dirname(os.path.realpath(path))
                message = rf"^file {path}: lies outside of the build.*; --allow_file_root={folder} allows it"
                with self.assertRaisesRegex(RunError, message):
                    FileRoots([self.build]).check(path)
        FileRoots([self.build]).check(self.build / "circle")

    def test_the_copy_is_not_made(self):
        copied = []
        add = FileRoots([self.build]).guarded(lambda path: copied.append(path) or "files/a")
        with self.assertRaisesRegex(RunError, "file /etc/hostname: lies outside of the build"):
            add(pathlib.Path("/etc/hostname"))
        self.assertEqual(copied, [])
        self.assertEqual(add(self.build / "below" / "a.profdata"), "files/a")

    def test_outputs_of_bazel(self):
        (self.build / "bazel-out").symlink_to(self.outside)
        roots_of_build([self.build]).check(self.build / "bazel-out" / "below" / "a.profdata")


if __name__ == "__main__":
    unittest.main()
