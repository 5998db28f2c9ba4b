import os
import unittest

from mlgo.run.printable import printable, printable_message, printable_text, printable_value

#: Text -> what is shown.
ESCAPED = {
    "plain /a.o: ä → 中": "plain /a.o: ä → 中",
    "\x1b[2J": r"\x1b[2J",
    "a\rb": r"a\rb",
    "bell\a null\0 delete\x7f": r"bell\x07 null\x00 delete\x7f",
    "\x9b31m": r"\x9b31m",
    "a\u202egpj.exe": r"a\u202egpj.exe",
    "\u2066a\u2069": r"\u2066a\u2069",
    "a\u2028b": r"a\u2028b",
    os.fsdecode(b"\xff.o"): r"\xff.o",
    "half \ud800": r"half \ud800",
    "a\u200b.o \ufeff\xad\u2060\u3164": r"a\u200b.o \ufeff\xad\u2060\u3164",
    "a\ufe0f\U000e0061": r"a\ufe0f\U000e0061",
}


class PrintableTest(unittest.TestCase):
    def test_what_a_terminal_obeys_is_escaped(self):
        for text, shown in ESCAPED.items():
            with self.subTest(shown):
                self.assertEqual(printable(text), shown)
                self.assertEqual(printable_text(text), shown)
                shown.encode("utf-8")

    def test_values_of_templates(self):
        class Escaped(str):
            pass

        found = [printable_value(value) for value in ("\x1b", "a\nb", 3, None, Escaped("\x1b"))]
        self.assertEqual(found, [r"\x1b", "a\nb", 3, None, "\x1b"])

    def test_one_line_stays_one_line(self):
        self.assertEqual(printable("a\nerror: b\tc"), r"a\nerror: b\tc")

    def test_lines_cannot_look_like_messages(self):
        self.assertEqual(printable_message("a\nerror: b\n    c\td\n\nfe"), "a\n  error: b\n    c\td\n\n  fe")
