"""The table: a package that gained, one that did not, one that failed."""

import unittest

from tests.debian_packages.table import BEGIN, END, Outcome, outcome_of, row, with_table

RESULT = {
    "program": "out/libx.so.1",
    "chosen": "-Oz, policy",
    "sources": {"a.c": "1", "b.c": "2"},
    "rows": [
        {"name": "as built", "bytes": {"code": 1000, "file": 2000, "xz": 900}, "compile_seconds": 4.0},
        {"name": "-Oz, policy", "bytes": {"code": 900, "file": 1500, "xz": 909}, "compile_seconds": 3.0},
    ],
}


class TableTest(unittest.TestCase):
    def test_rows(self):
        gained = Outcome("x", "CMake, C", RESULT, "", 12.3, 1.04)
        self.assertEqual(
            row(gained),
            "| x | CMake, C | 2 | libx.so.1 | 1,000 −10.0 % | 2,000 −25.0 % | 900 +1.0 % | -Oz, policy | 0.75 × | "
            "12 s | 1.04 × |",
        )
        none = Outcome("x", "make, C", {**RESULT, "chosen": None}, "", 1.0)
        self.assertIn("none is smaller", row(none))
        failed = Outcome("y", "make, C", None, "needs\na | b")
        self.assertIn("failed: needs a / b", row(failed))
        self.assertEqual({row(one).count("|") for one in (gained, none, failed)}, {12})

    def test_an_outcome_is_read_back(self):
        outcome = Outcome("x", "CMake, C", RESULT, "", 12.3, 1.04)
        self.assertEqual(outcome_of(outcome.text()), outcome)

    def test_a_page(self):
        page = with_table(f"before\n{BEGIN}\nold \\1\n{END}\nafter\n", [Outcome("y", "make", None, "\\1")])
        self.assertTrue(page.startswith(f"before\n{BEGIN}\n| package"))
        self.assertTrue(page.endswith(f"{END}\nafter\n"))
        self.assertNotIn("old", page)
        with self.assertRaisesRegex(ValueError, "has no"):
            with_table("", [])


if __name__ == "__main__":
    unittest.main()
