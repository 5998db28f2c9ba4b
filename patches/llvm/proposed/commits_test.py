"""The commits for LLVM have their messages, changes and tests, in order, and `git am` takes them."""

import pathlib
import subprocess
import tempfile
import unittest

from mlgo.run.locate import runfile
from patches.llvm.proposed.commits import commits
from patches.llvm.series import UnusablePatch

PATCH = """Purpose: ours.

diff --git a/lib/A.cpp b/lib/A.cpp
--- a/lib/A.cpp
+++ b/lib/A.cpp
@@ -1 +1 @@
-a
+b
"""
FILES = {
    "patches/llvm/22/one.patch": PATCH,
    "patches/llvm/proposed/messages/one.txt": "[X] A subject\n\nWhat is wrong.\n\nTo see it: do this.\n",
    "patches/llvm/proposed/llvm/test/a.ll": "; RUN: opt %s\ndefine void @f() { ret void }\n",
}
ORDER = [{"patch": "one", "tests": ["llvm/test/a.ll"]}]


class CommitsTest(unittest.TestCase):
    def test_git_takes_a_commit(self):
        with tempfile.TemporaryDirectory() as scratch:
            fork = pathlib.Path(scratch)

            def git(*words: str) -> str:
                command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgSign=false"]
                return subprocess.run([*command, *words], cwd=fork, capture_output=True, text=True, check=True).stdout

            git("init", "-q")
            (fork / "lib").mkdir()
            (fork / "lib/A.cpp").write_text("a\n")
            git("add", ".")
            git("commit", "-q", "-m", "LLVM")
            (name, mail), *_ = commits(ORDER, FILES).items()
            (fork / name).write_text(mail)
            git("am", "-q", "--keep-non-patch", name)
            self.assertEqual(
                git("log", "-1", "--format=%B").strip(), FILES["patches/llvm/proposed/messages/one.txt"].strip()
            )
            self.assertEqual((fork / "lib/A.cpp").read_text(), "b\n")
            self.assertEqual((fork / "llvm/test/a.ll").read_text(), FILES["patches/llvm/proposed/llvm/test/a.ll"])

    def test_a_file_that_is_missing(self):
        for gone in FILES:
            files = {name: content for name, content in FILES.items() if name != gone}
            with self.assertRaisesRegex(UnusablePatch, "order.json names .*, which is not there"):
                commits(ORDER, files)

    def test_every_commit_has_a_test_and_says_how_to_see_the_bug(self):
        found = sorted(runfile("patches/llvm/upstream").iterdir())
        self.assertEqual(len(found), 6)
        for path in found:
            text = path.read_text(encoding="utf-8")
            message = text.partition("\n---\n")[0]
            self.assertIn("To see ", message, path.name)
            self.assertNotIn("Purpose:", message, path.name)
            self.assertRegex(text, r"\+\+\+ b/(clang|llvm)/test/", path.name)


if __name__ == "__main__":
    unittest.main()
