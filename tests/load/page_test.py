"""Generated tables of a page."""

import unittest

from tests.load import page


class PageTest(unittest.TestCase):
    def test_a_table(self):
        self.assertEqual(page.table(["n", "s"], [["x", "1"]]), "| n | s |\n| --- | ---: |\n| x | 1 |")


if __name__ == "__main__":
    unittest.main()
