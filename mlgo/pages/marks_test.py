import unittest

from mlgo.pages import marks

_PAGE = "# Page\n<!-- begin generated: a -->\nold\n<!-- end generated: a -->\nafter\n"


class MarksTest(unittest.TestCase):
    def test_a_section_is_replaced_and_the_rest_stays(self):
        new = marks.with_section(_PAGE, "generated", "a", "\nnew\n")
        self.assertEqual(new, _PAGE.replace("old", "new"))
        self.assertEqual(marks.with_section(new, "generated", "a", "new"), new)
        self.assertEqual((marks.section_names(new, "generated"), marks.section_names(new, "results")), (["a"], []))

    def test_a_page_without_the_marks(self):
        for text in ("", _PAGE + _PAGE, _PAGE.replace("end", "and")):
            with self.assertRaisesRegex(ValueError, "begin generated: a.*once, in this order"):
                marks.with_section(text, "generated", "a", "new")
