"""What functions count where equal ones are folded, and what a module adds to a folded image."""

import dataclasses
import unittest

from mlgo.score.folded_code import AddedCode, FoldedByDefault, FoldedCode, with_folds
from mlgo.score.function_scores import NON_FUNCTION_BYTES, FunctionScore


def function(size: float, fold: str | None = None, comdat: str | None = None) -> FunctionScore:
    return FunctionScore(0, size, comdat, fold)


class FoldedCodeTest(unittest.TestCase):
    def setUp(self):
        rest = {NON_FUNCTION_BYTES: function(7)}
        self.default = {
            "a": {**rest, "f": function(10, "x"), "g": function(10, "x"), "own": function(6, "a")},
            "b": {**rest, "h": function(10, "x"), "s": function(8, "s", "s"), "kept": function(3)},
            "c": {**rest, "s": function(8, "s", "s")},
        }
        self.count = FoldedCode.of_builds(self.default)

    def test_over_the_corpus_each_piece_of_code_counts_once(self):
        total = sum(sum(self.count(name, scores).values()) for name, scores in self.default.items())
        self.assertEqual(total, 10 + 6 + 8 + 3)

    def test_shares(self):
        module = self.default["a"]
        without_a_twin = {name: score for name, score in module.items() if name != "g"}
        for what, name, scores, expected in (
            ("twins", "a", module, {"f": 2.5, "g": 2.5, "own": 6}),
            ("without a twin", "a", without_a_twin, {"f": 5, "own": 6}),
            ("unlike its twins", "a", {**module, "g": function(9, "new")}, {"f": 5, "g": 9, "own": 6}),
            ("new twins", "a", {"f": function(9, "new"), "g": function(9, "new")}, {"f": 4.5, "g": 4.5}),
            ("a changed COMDAT", "b", {"s": function(5, "new", "s")}, {"s": 2.5}),
            ("never folded", "a", {"f": function(4), "g": function(4)}, {"f": 4, "g": 4}),
        ):
            with self.subTest(what):
                self.assertEqual(self.count(name, scores), expected)

    def test_other_reference_builds_add_code_that_is_shared(self):
        policy = {name: {"p": function(12, "p")} for name in "abc"}
        self.assertEqual(self.count("a", policy["a"]), {"p": 12})
        self.assertEqual(FoldedCode.of_builds(self.default, policy)("a", policy["a"]), {"p": 4})

    def test_the_digest_is_of_all_reference_builds(self):
        other = FoldedCode.of_builds(self.default, {"a": {"p": function(12, "p")}})
        self.assertNotEqual(self.count.digest, other.digest)
        again = FoldedCode.of_builds(dict(reversed(self.default.items())))
        self.assertEqual(self.count.digest, again.digest)

    def test_without_an_object_nothing_is_folded(self):
        self.assertEqual(with_folds({"f": function(4)}, None, "m"), {"f": function(4)})


class FoldedByDefaultTest(unittest.TestCase):
    default = {
        "a": {NON_FUNCTION_BYTES: function(7), "f": function(12, "x"), "g": function(12, "x"), "own": function(6, "o")},
        "b": {"h": function(12, "x"), "s": function(8, "s", "s")},
        "c": {"s": function(8, "s", "s")},
    }

    def counted(self, unlike: float, **changed: dict[str, FunctionScore]) -> float:
        count = dataclasses.replace(FoldedByDefault.of_build(self.default), unlike=unlike)
        return sum(sum(count(name, scores).values()) for name, scores in {**self.default, **changed}.items())

    def test_over_the_default_corpus_each_piece_of_code_counts_once(self):
        for unlike in (0.0, 0.5, 1.0):
            self.assertAlmostEqual(self.counted(unlike), 12 + 6 + 8)

    def test_copies_that_change_alike_count_as_one(self):
        a = {**self.default["a"], "f": function(9, "new"), "g": function(9, "new")}
        b = {**self.default["b"], "h": function(9, "new")}
        self.assertAlmostEqual(self.counted(0.0, a=a, b=b), 9 + 6 + 8)
        # Of code that no default build holds, `FoldedCode` counts a copy for each module.
        self.assertAlmostEqual(self.counted(1.0, a=a, b=b), 2 * 9 + 6 + 8)

    def test_a_copy_that_changes_alone_counts_more(self):
        b = {**self.default["b"], "h": function(9, "new")}
        self.assertAlmostEqual(self.counted(0.0, b=b), 12 - 1 + 6 + 8)
        self.assertAlmostEqual(self.counted(1.0, b=b), 12 / 2 + 9 + 6 + 8)
        self.assertAlmostEqual(self.counted(0.5, b=b), (11 + 15) / 2 + 6 + 8)

    def test_a_changed_comdat_counts_by_its_share(self):
        self.assertAlmostEqual(self.counted(0.5, b={**self.default["b"], "s": function(4, "new", "s")}), 12 + 6 + 6)

    def test_new_functions_and_those_never_folded_count_in_full(self):
        a = {**self.default["a"], "p": function(5, "p"), "q": function(4)}
        self.assertAlmostEqual(self.counted(0.5, a=a), 12 + 6 + 8 + 5 + 4)


class AddedCodeTest(unittest.TestCase):
    def setUp(self):
        rest = {NON_FUNCTION_BYTES: function(7)}
        self.builds = {
            "b": {**rest, "own": function(6, "own"), "s": function(8, "s", "s"), "t": function(4, "t", "t")},
            "a": {**rest, "f": function(10, "x"), "g": function(10, "x"), "s": function(9, "other s", "s")},
            "c": {**rest, "h": function(10, "x"), "s": function(8, "s", "s"), "u": function(5, "u", "u")},
        }
        self.count = AddedCode.of_builds(self.builds)

    def test_a_comdat_counts_in_the_first_module_in_the_order_of_linking(self):
        self.assertEqual(self.count("b", self.builds["b"]), {"own": 6, "s": 8, "t": 4})
        self.assertEqual(self.count("a", {"s": function(90, "new", "s")}), {})
        self.assertEqual(self.count("c", {"u": function(3, "new", "u")}), {"u": 3})

    def test_without_the_first_copy_of_a_comdat_the_next_one_counts(self):
        without = {name: score for name, score in self.builds["b"].items() if name not in ("s", "t")}
        self.assertEqual(self.count("b", without), {"own": 6, "s": 9})

    def test_what_other_modules_add_anyway_counts_nothing(self):
        self.assertEqual(self.count("a", {"f": function(10, "x")}), {})
        self.assertEqual(self.count("c", {"new": function(6, "own")}), {})
        self.assertEqual(self.count("b", {"own": function(6, "own"), "s": function(8), "t": function(4)})["own"], 6)

    def test_equal_functions_of_the_module_share(self):
        changed = {"f": function(12, "new"), "g": function(12, "new"), "k": function(3)}
        self.assertEqual(self.count("a", changed), {"f": 6, "g": 6, "k": 3})

    def test_a_comdat_of_a_later_module_counts_when_the_module_adds_it(self):
        self.assertEqual(self.count("b", {"u": function(4, "new", "u")})["u"], 4)

    def test_the_digest_is_of_all_builds(self):
        changed = {**self.builds, "c": {**self.builds["c"], "u": function(5, "new", "u")}}
        self.assertNotEqual(self.count.digest, AddedCode.of_builds(changed).digest)
        self.assertEqual(self.count.digest, AddedCode.of_builds(self.builds).digest)
