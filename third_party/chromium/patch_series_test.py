"""Patches cut down to the files of a tree."""

import unittest

import hypothesis
import hypothesis.strategies as st
import patch_series

_TWO = """Author: somebody
--- a/kept.txt
+++ b/kept.txt\t2024-01-01
@@ -1,2 +1,2 @@
 one
-two
+2
diff --git a/gone.txt b/gone.txt
index 1..2 100644
--- a/gone.txt
+++ b/gone.txt
@@ -1 +1 @@
-x
+y
\\ No newline at end of file
"""


def diff(name: str, removed: list, added: list) -> str:
    """A patch of one hunk which replaces lines."""
    body = "".join(f"-{line}\n" for line in removed) + "".join(f"+{line}\n" for line in added)
    return f"--- a/{name}\n+++ b/{name}\n@@ -1,{len(removed)} +1,{len(added)} @@\n{body}"


class PatchSeriesTest(unittest.TestCase):
    def cut(self, patch: str, *has: str, wants=lambda path: False) -> patch_series.Cut:
        return patch_series.cut_to(patch, "some.patch", lambda path: path in has, wants)

    def test_series(self):
        self.assertEqual(
            patch_series.active("# a comment\n\na/b.patch\nc.patch -p1 # why\n#d.patch\n"), ["a/b.patch", "c.patch"]
        )

    def test_parts_of_absent_files_are_left_out(self):
        cut = self.cut(_TWO, "kept.txt")
        self.assertEqual((cut.files, cut.left_out), (("kept.txt",), ("gone.txt",)))
        self.assertTrue(cut.text.startswith("--- a/kept.txt"))
        self.assertNotIn("gone", cut.text)
        self.assertEqual(self.cut(_TWO).text, "")

    def test_all_parts_stay_where_all_files_are(self):
        cut = self.cut(_TWO, "kept.txt", "gone.txt")
        self.assertEqual(cut.left_out, ())
        self.assertIn("\\ No newline", cut.text)

    def test_new_files(self):
        new = "--- /dev/null\n+++ chromium/dir/new.txt\n@@ -0,0 +1 @@\n+x\n"
        self.assertEqual(self.cut(new).files, ())
        self.assertEqual(self.cut(new, wants=lambda path: path.startswith("dir/")).files, ("dir/new.txt",))
        # diff -N writes an old name for a file that is new.
        self.assertEqual(
            self.cut(new.replace("/dev/null", "chromium.orig/dir/new.txt"), wants=lambda path: True).files,
            ("dir/new.txt",),
        )

    def test_removed_file(self):
        self.assertEqual(self.cut("--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", "old").files, ("old",))

    def test_line_that_looks_like_a_name_of_a_file(self):
        patch = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n--- a/other\n-x\n+++ b/other\n+@@ -1 +1 @@\n"
        self.assertEqual([part.path for part in patch_series.file_parts(patch, "p")], ["f"])

    def test_what_is_no_patch(self):
        for text, words in (
            ("hello\n", "no file is named"),
            ("--- a/f\n+++ b/f\n@@ -1,3 +1 @@\n-x\n", "ends within a hunk"),
            ("--- a/f\n+++ b/f\n@@ -1,3 +1 @@\n-x\n?\n", "line 5 belongs to no hunk"),
            ("--- a/../f\n+++ b/../f\n@@ -1 +1 @@\n-x\n+y\n", "leaves the tree"),
            ("--- a//etc/f\n+++ b//etc/f\n@@ -1 +1 @@\n-x\n+y\n", "leaves the tree"),
        ):
            with self.subTest(words), self.assertRaisesRegex(patch_series.PatchError, f"some.patch: .*{words}"):
                patch_series.file_parts(text, "some.patch")

    _lines = st.lists(
        st.text(st.characters(codec="latin-1", exclude_categories=["Cc", "Zl", "Zp"])), min_size=1, max_size=4
    )

    @hypothesis.given(st.lists(st.tuples(_lines, _lines), min_size=1, max_size=4), st.data())
    def test_any_lines_and_any_choice_of_files(self, hunks, data):
        patches = [diff(f"dir/{index}", removed, added) for index, (removed, added) in enumerate(hunks)]
        has = data.draw(st.sets(st.sampled_from(range(len(patches)))))
        cut = self.cut("noise\n" + "noise\n".join(patches), *(f"dir/{index}" for index in has))
        self.assertEqual(cut.text, "".join(patches[index] for index in sorted(has)))

    @hypothesis.given(st.text(st.sampled_from("-+@ a/\n0123,b\\"), max_size=80))
    def test_damage_is_an_error_of_ours(self, text):
        try:
            patch_series.file_parts("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n" + text, "p")
        except patch_series.PatchError:
            pass


if __name__ == "__main__":
    unittest.main()
