"""Undoing patches gives the text before them, or an error."""

import unittest

from tests.your_own_llvm.pristine import NotReversible, without

FIRST = """Purpose: one.

--- a/lib/A.cpp
+++ b/lib/A.cpp
@@ -1,2 +1,3 @@
 a
+added
 b
--- a/lib/B.cpp
+++ b/lib/B.cpp
@@ -1 +1 @@
-b
+of another file
"""
SECOND = """--- a/lib/A.cpp
+++ b/lib/A.cpp
@@ -1,3 +1,3 @@
 a
-added
+changed
 b
@@ -7 +7,0 @@
-removed
"""


class PristineTest(unittest.TestCase):
    def test_the_last_patch_is_undone_first(self):
        self.assertEqual(
            without([("1", FIRST), ("2", SECOND[: SECOND.index("@@ -7")])], "lib/A.cpp", "a\nchanged\nb\n"), "a\nb\n"
        )
        self.assertEqual(without([("1", FIRST)], "lib/B.cpp", "of another file\nc\n"), "b\nc\n")

    def test_a_patch_of_other_files_changes_nothing(self):
        self.assertEqual(without([("1", FIRST)], "lib/C.cpp", "c\n"), "c\n")

    def test_a_source_without_the_patch(self):
        with self.assertRaisesRegex(NotReversible, "1: its change to lib/A.cpp is there 0 times"):
            without([("1", FIRST)], "lib/A.cpp", "a\nb\n")

    def test_a_hunk_without_a_place(self):
        with self.assertRaisesRegex(NotReversible, "2: its change to lib/A.cpp is there"):
            without([("2", SECOND)], "lib/A.cpp", "a\nchanged\nb\n")


if __name__ == "__main__":
    unittest.main()
