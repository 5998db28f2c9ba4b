"""Generated sections of a page."""

import unittest

from tests.load import page

_PAGE = "# Page\n<!-- begin generated: a -->\nold\n<!-- end generated: a -->\nafter\n"


class PageTest(unittest.TestCase):
    def test_a_section_is_replaced_and_the_rest_stays(self):
        new = page.with_section(_PAGE, "a", "\nnew\n")
        self.assertEqual(new, _PAGE.replace("old", "new"))
        self.assertEqual(page.with_section(new, "a", "new"), new)

    def test_a_page_without_the_marks(self):
        for text in ("", _PAGE + _PAGE, _PAGE.replace("end", "and")):
            with self.assertRaisesRegex(ValueError, "begin generated: a.*once, in this order"):
                page.with_section(text, "a", "new")

    def test_a_table(self):
        self.assertEqual(page.table(["n", "s"], [["x", "1"]]), "| n | s |\n| --- | ---: |\n| x | 1 |")


if __name__ == "__main__":
    unittest.main()
