import unittest

from hypothesis import given
from hypothesis import strategies as st

from mlgo.run.exit_codes import RunError
from mlgo.run.gin_text import MOST_BYTES, check_text


class GinTextTest(unittest.TestCase):
    def test_texts_within_the_limits(self):
        deep = "[" * 32 + "]" * 32
        for text in ("", "# A comment.", f"a = {deep}\n" * 9, "a = 0x" + "f" * 38, "a = 1_000_000.5e-300\nb = 1j\n"):
            check_text(text, "it")

    def test_texts_beyond_a_limit(self):
        for text, message in (
            (" " * (MOST_BYTES + 1), "it: has 65,537 characters, more than the 65,536 allowed. Write every setting"),
            ("a = " + "1 " * 10_001, "it: has more than 10,000 words and signs"),
            ("a = 1\nb = " + "(" * 33, "it: has brackets inside brackets, more than 32 deep, in line 2"),
            ("a = 0x" + "f" * 39, "it: has the number 0xffff.* in line 1, which is too large"),
            ("a = 1e309", "it: has the number 1e309.* in line 1, which is too large"),
            ("a = [", "it: is not written in gin's syntax: EOF in multi-line statement"),
            ("  a = 1\n b = 2", "it: is not written in gin's syntax: unindent does not match"),
        ):
            with self.subTest(text[:20]), self.assertRaisesRegex(RunError, message):
                check_text(text, "it")

    @given(st.text(max_size=60))
    def test_any_text_is_accepted_or_refused(self, text):
        try:
            check_text(text, "it")
        except RunError:
            pass
