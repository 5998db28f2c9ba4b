import unittest

from mlgo.corpus.gn.make import BuildPart, ninja_text, parse_part
from mlgo.run.exit_codes import RunError

_INPUTS = ["obj/b.o", "obj/a.o", "gen/a.h", "obj/d.o", "obj/c.o", "obj/a.o", "../../a.cc", "obj/e.o", "liba.a"]


class BuildPartTest(unittest.TestCase):
    def test_parts_are_disjoint_and_together_the_whole(self):
        for count in range(1, 8):
            parts = [BuildPart(number, count).of(_INPUTS) for number in range(1, count + 1)]
            with self.subTest(count):
                self.assertEqual(sorted(sum(parts, [])), [f"obj/{name}.o" for name in "abcde"])
                sizes = {len(part) for part in parts}
                self.assertLessEqual(max(sizes) - min(sizes), 1)

    def test_the_order_of_inputs_changes_nothing(self):
        self.assertEqual(BuildPart(2, 2).of(_INPUTS), BuildPart(2, 2).of(reversed(_INPUTS)))
        self.assertEqual(BuildPart(2, 2).of(_INPUTS), ["obj/b.o", "obj/d.o"])

    def test_parse(self):
        self.assertIsNone(parse_part(""))
        self.assertEqual(parse_part("3/8"), BuildPart(3, 8))

    def test_what_is_no_part(self):
        for text, words in (
            ("0/4", "--part=0/4: is no part"),
            ("5/4", "--part=5/4: is no part"),
            ("1/0", "--part=1/0: is no part"),
            ("1", "--part=1: is not N/M"),
            ("1/4 ", "is not N/M"),
            ("-1/4", "is not N/M"),
            ("a/b", "is not N/M"),
        ):
            with self.subTest(text), self.assertRaisesRegex(RunError, words):
                parse_part(text)

    def test_ninja_escapes(self):
        expected = "include build.ninja\nbuild mlgo_part: phony $\n    obj/a$ b.o $\n    c$:$$.o\n"
        self.assertEqual(ninja_text(["obj/a b.o", "c:$.o"]), expected)
