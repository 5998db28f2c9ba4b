import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from tests.clones import clone, nested, outputs


class ScratchTest(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()

    def write(self, path, content=b"x"):
        path = self.scratch / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path


class CopyTest(ScratchTest):
    def test_the_working_tree_and_not_the_commit_is_copied(self):
        old = self.scratch / "old"
        self.write("old/.gitignore", b"ignored\n")
        self.write("old/a/run", b"old").chmod(0o755)
        self.write("old/gone")
        subprocess.run(["git", "init", "-q", old], check=True)
        subprocess.run(["git", "add", "."], cwd=old, check=True)
        self.write("old/a/run", b"changed")
        self.write("old/new")
        self.write("old/ignored")
        (old / "gone").unlink()
        new = self.scratch / "deep" / "new"
        clone.copy(old, new)
        self.assertEqual(
            sorted(str(path.relative_to(new)) for path in new.rglob("*") if path.is_file()),
            [".gitignore", "a/run", "new"],
        )
        self.assertEqual((new / "a/run").read_bytes(), b"changed")
        self.assertTrue(os.access(new / "a/run", os.X_OK))


class NestedTest(ScratchTest):
    def test_the_tests_own_environment_stays_here(self):
        outer = {"HOME": "/h", "PATH": "/p", "TEST_TMPDIR": "/t", "RUNFILES_DIR": "/r", "BAZEL": ""}
        self.assertEqual(nested.environment(outer), {"HOME": "/h", "PATH": "/p"})
        self.assertTrue(nested.environment({})["HOME"])

    def test_tests_ask_for_what_is_inherited(self):
        asked = (pathlib.Path(nested.__file__).parent / "defs.bzl").read_text()
        self.assertEqual(tuple(re.findall(r'^    "(\w+)",$', asked, re.MULTILINE)), nested.INHERITED)

    def test_repositories_keep_their_names_or_get_the_modules(self):
        for name, root_name, module_name in (
            ("_main~debian~x", "_main~debian~x", "mlgo~~debian~x"),
            ("+debian+x", "+debian+x", "mlgo++debian+x"),
        ):
            file = self.write(f"base/external/{name}/usr/bin/y")
            directory = self.scratch / "base/external" / name
            self.assertEqual(nested.shared_repositories([file]), [f"--override_repository={root_name}={directory}"])
            self.assertEqual(
                nested.shared_repositories([file], "mlgo"), [f"--override_repository={module_name}={directory}"]
            )

    def test_a_file_of_no_repository(self):
        with self.assertRaisesRegex(ValueError, "lies in no fetched repository"):
            nested.repository_of(self.write("x"))


class OutputsTest(ScratchTest):
    def tree(self, name):
        folder = self.scratch / name / "bin"
        self.write(f"{name}/bin/a/x.o", b"object")
        self.write(f"{name}/bin/a/tool.runfiles/y")
        self.write(f"{name}/bin/a/tool.runfiles_manifest", name.encode())
        os.symlink("x.o", folder / "a/relative")
        os.symlink(folder / "a/x.o", folder / "a/absolute")
        os.symlink(folder / "a", folder / "directory")
        return folder

    def test_equal_trees_in_different_places(self):
        one, other = outputs.digests(self.tree("one")), outputs.digests(self.tree("other"))
        self.assertEqual(sorted(one), ["a/absolute", "a/relative", "a/x.o"])
        self.assertIsNone(outputs.first_difference(one, other))

    def test_the_first_difference_is_named_with_both_digests(self):
        one = self.tree("one")
        before = outputs.digests(one)
        self.write("one/bin/a/x.o", b"other")
        after = outputs.digests(one)
        self.assertRegex(
            outputs.first_difference(before, after) or "no difference",
            r"^a/absolute: [0-9a-f]{64} in the first clone, [0-9a-f]{64} in the second$",
        )

    def test_mode_and_absence_count(self):
        one = self.tree("one")
        before = outputs.digests(one)
        (one / "a/x.o").chmod(0o755)
        self.assertIn("x in the second", outputs.first_difference(before, outputs.digests(one)) or "no difference")
        (one / "a/absolute").unlink()
        self.assertRegex(
            outputs.first_difference(before, outputs.digests(one)) or "no difference",
            "^a/absolute: .* missing in the second$",
        )


if __name__ == "__main__":
    unittest.main()
