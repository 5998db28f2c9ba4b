"""What a module adds to a folded image."""

import unittest

from mlgo.score.folded_code import AddedCode
from mlgo.score.function_scores import NON_FUNCTION_BYTES, FunctionScore


def function(size: float, fold: str | None = None, comdat: str | None = None) -> FunctionScore:
    return FunctionScore(0, size, comdat, fold)


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


if __name__ == "__main__":
    unittest.main()
