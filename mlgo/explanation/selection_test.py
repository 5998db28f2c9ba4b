import unittest

from mlgo.explanation.selection import listing, matching, the_one, varied
from mlgo.run.exit_codes import ExitCode, RunError

_NAMES = {
    "_ZN1a1fEi": "a::f(int)",
    "_ZZN1a1fEiENK3$_0clEv": "a::f(int)::$_0::operator()() const",
    "_Z1gI1aE": "void g<a::f(int)>(b*)",
    "_ZNK1c5applyEv": "c::apply() const",
    "main": "main",
}


class SelectionTest(unittest.TestCase):
    def test_names_match_exactly_demangled_or_in_part(self):
        for wanted, expected in (
            ("main", ["main"]),
            ("_ZN1a1fEi", ["_ZN1a1fEi"]),
            ("a::f(int)", ["_ZN1a1fEi"]),
            ("f", ["_ZN1a1fEi"]),  # What is called so, before what only mentions it.
            ("c::apply", ["_ZNK1c5applyEv"]),
            ("appl", ["_ZNK1c5applyEv"]),
            ("$_0", ["_ZZN1a1fEiENK3$_0clEv"]),
            ("a::", ["_ZN1a1fEi", "_ZZN1a1fEiENK3$_0clEv", "_Z1gI1aE"]),
            ("nowhere", []),
        ):
            self.assertEqual(matching(wanted, _NAMES), expected, wanted)

    def test_several_or_none_are_refused_with_the_names(self):
        wrong = r"(?s)--function=a::: could be 3 functions of module m:.*a::f\(int\)  _ZN1a1fEi\n.*Give more"
        with self.assertRaisesRegex(RunError, wrong):
            the_one("a::", _NAMES, "--function", "function", "module m")
        with self.assertRaisesRegex(
            RunError, r"(?s)--function=mian: is in no name of the 5 functions of module m:\n  main\n"
        ):
            the_one("mian", _NAMES, "--function", "function", "module m")
        with self.assertRaisesRegex(RunError, "module m has no function with a decision") as caught:
            the_one("main", {}, "--function", "function", "module m")
        self.assertEqual(caught.exception.exit_code, ExitCode.NOTHING_PRODUCED)
        self.assertEqual(the_one("c::", _NAMES, "--function", "function", "module m"), "_ZNK1c5applyEv")

    def test_long_lists_and_names_are_cut(self):
        names = {f"_Z{n}" + "x" * 500: f"n{n}" + "y" * 500 for n in range(50)}
        lines = listing(list(names), names).splitlines()
        self.assertEqual(len(lines), 22)
        self.assertEqual(lines[-1], "  ... and 30 more")
        self.assertLess(max(map(len, lines)), 400)

    def test_examples_are_of_different_kinds(self):
        candidates = ["ax", "ay", "az", "bx", "by", "cx"]
        chosen = varied(candidates, 10, [lambda each: each[0], lambda each: each[1]], [2, 2])
        self.assertEqual(chosen, ["ax", "ay", "bx", "by"])
        self.assertEqual(varied(candidates, 3, [lambda each: each[0]], [1]), ["ax", "bx", "cx"])
        self.assertEqual(varied(candidates, 0, [lambda each: each[0]], [1]), [])
