"""The series for `git am` has the patches in order, with their reasons, and without those that need files of ours."""

import unittest

from mlgo.run.locate import runfile
from patches.llvm.series import UnusablePatch, series

PATCH = """Purpose: a reason.

--- a/lib/A.cpp
+++ b/lib/A.cpp
@@ -1 +1 @@
-a
+b
"""
NEEDS_OURS = PATCH.replace("+b\n", '+b\n+#include "InliningFeatures.h"\n').replace("+1 @@", "+1,2 @@")


class SeriesTest(unittest.TestCase):
    def test_order_and_content(self):
        order = ["one_holds.patch", "two_needs_ours.patch", "three_holds.patch"]
        found = series(order, dict(zip(order, [PATCH, NEEDS_OURS, PATCH], strict=True)))
        self.assertEqual(list(found), ["0001-one-holds.patch", "0002-three-holds.patch"])
        lines = found["0002-three-holds.patch"].splitlines()
        self.assertIn("Subject: [PATCH 2/2] [MLGO] three holds", lines)
        self.assertIn("Purpose: a reason.", lines)
        self.assertEqual(lines[lines.index("---") + 1], "diff --git a/lib/A.cpp b/lib/A.cpp")

    def test_patches_that_cannot_be_written(self):
        with self.assertRaisesRegex(UnusablePatch, "a.patch: does not open with its purpose"):
            series(["a.patch"], {"a.patch": PATCH[PATCH.index("---") :]})
        with self.assertRaisesRegex(UnusablePatch, "versions.json names b.patch, which patches/llvm does not have"):
            series(["a.patch", "b.patch"], {"a.patch": PATCH})

    def test_every_patch_has_a_place_or_needs_ours(self):
        # 14 patches, of which 3 include headers of ours.
        for major in (22, 23):
            patches = list(runfile(f"patches/llvm/series_{major}").iterdir())
            self.assertEqual(len(patches), 11)
            for path in patches:
                self.assertIn("\nPurpose: ", path.read_text(encoding="utf-8"), path.name)


if __name__ == "__main__":
    unittest.main()
