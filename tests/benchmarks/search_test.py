"""What counts as a changed decision."""

import unittest

from mlgo.search.decision_file import Section
from tests.benchmarks.search import changed_decisions


class SearchTest(unittest.TestCase):
    def test_changed_decisions(self):
        before = Section("a.c", "default", {"same": True, "other": False, "gone": True})
        found = [
            Section("b.c", "default", {"other": True}),
            Section("a.c", "default", {"same": True, "other": True, "new": False}),
        ]
        self.assertEqual(changed_decisions(before, found), 1)
        self.assertEqual(changed_decisions(before, []), 0)


if __name__ == "__main__":
    unittest.main()
