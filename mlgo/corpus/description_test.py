"""Whatever a description says, it is read rightly or refused in a sentence; named examples are in corpus_test.py."""

import json
import os
import unittest

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlgo.corpus.description import CorpusError, Description, encode, is_safe_name, parse_description, parse_licences

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=100)
# Every string that JSON can say, half surrogate pairs included, and those that resemble paths.
TEXTS = st.text(max_size=12) | st.text("./ab\0\\\udcff\ud800", max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
KEYS = st.sampled_from(("modules", "has_thinlto", "global_command_override")) | TEXTS


class DescriptionTest(unittest.TestCase):
    def test_a_line_break_is_a_character_like_others(self):
        for name in ("a\n", "a/\n", "a/.\n"):
            self.assertTrue(is_safe_name(name), name)
        for name in ("\n/../a", "a/..", "/a", "a/", ""):
            self.assertFalse(is_safe_name(name), name)

    @UNHURRIED
    @given(TEXTS)
    def test_a_safe_name_stays_inside(self, name):
        if is_safe_name(name):
            inside = os.path.normpath(os.fsencode(os.path.join("/corpus", f"{name}.bc")))
            self.assertEqual(inside, b"/corpus/" + os.fsencode(name) + b".bc")
            self.assertNotIn(b"\0", inside)

    @UNHURRIED
    @given(
        st.lists(TEXTS.filter(is_safe_name), min_size=1, max_size=6, unique=True),
        st.none() | st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), max_size=4),
    )
    def test_what_is_written_is_read(self, names, override):
        content = {"modules": names, "has_thinlto": False}
        if override is not None:
            content["global_command_override"] = override
        expected = Description(tuple(names), False, None if override is None else tuple(override))
        self.assertEqual(parse_description(encode(content), "x"), expected)
        licences = dict.fromkeys(names, "MIT")
        self.assertEqual(parse_licences(encode({"modules": licences}), "x"), licences)

    @UNHURRIED
    @given(VALUES | st.dictionaries(KEYS, VALUES, max_size=4), st.sampled_from((parse_description, parse_licences)))
    def test_any_json(self, value, parse):
        self.check(json.dumps(value).encode(), parse)

    @UNHURRIED
    @given(st.binary(max_size=60), st.sampled_from((parse_description, parse_licences)))
    def test_any_bytes(self, content, parse):
        self.check(content, parse)
        self.check(b'{"modules": ' + content + b"}", parse)

    def test_numbers_and_depth_without_end(self):
        for content in (b"9" * 5000, b"[" * 100_000, b'{"modules": [' + b"9" * 5000 + b"]}"):
            with self.assertRaisesRegex(CorpusError, r"\(x\): is (nested too deeply|not JSON: the number 9+\.\.\.)"):
                parse_description(content, "x")

    def check(self, content: bytes, parse) -> None:
        try:
            parsed = parse(content, "the file")
        except CorpusError as error:
            self.assertIn("the file", str(error))
            return
        if isinstance(parsed, Description):
            self.assertTrue(parsed.modules)
            self.assertTrue(all(is_safe_name(name) for name in parsed.modules))
            self.assertEqual(len(set(parsed.modules)), len(parsed.modules))
