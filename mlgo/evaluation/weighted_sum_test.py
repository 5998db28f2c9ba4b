import unittest

from mlgo.evaluation.weighted_sum import ScorePair, WeightedSum, contribution_sentences, weighted_sum


def _pairs(*scores: tuple[float, float]) -> list[ScorePair]:
    return [ScorePair(f"m{index}", f"f{index}", *pair) for index, pair in enumerate(scores)]


def _weighted_sum(pairs: list[ScorePair], seed: int, larger_is_better: bool = False) -> WeightedSum:
    """The weighted sum of pairs that have one."""
    found = weighted_sum(pairs, seed, larger_is_better)
    assert found is not None
    return found


class WeightedSumTest(unittest.TestCase):
    def test_functions_count_by_their_score(self):
        found = _weighted_sum(_pairs((1000.0, 1100.0), (1.0, 0.5), (1.0, 0.5)), seed=1)
        self.assertAlmostEqual(found.summary.geometric_mean, 1101.0 / 1002.0)
        self.assertEqual((found.summary.better, found.summary.worse, found.summary.functions), (2, 1, 3))

    def test_one_function_that_carries_the_sum_is_named_with_its_share(self):
        found = _weighted_sum(_pairs((10.0, 10.0), (980.0, 1070.0), (10.0, 9.0)), seed=1)
        self.assertEqual((found.largest_scores[0].name, found.largest_scores[0].share), ("f1", 0.98))
        self.assertEqual([each.name for each in found.largest_changes], ["f1", "f2"])
        self.assertAlmostEqual(found.largest_changes[0].change, 0.09)
        self.assertEqual(found.largest_changes_share, 1.0)
        first, second = contribution_sentences(found, "functions")
        self.assertTrue(first.startswith("100 % of the sum is in 3 of 3 functions: f1 98 %"), first)
        self.assertTrue(second.endswith("2 of 3 functions, which change it by: f1 +9.00 %, f2 -0.10 %"), second)

    def test_only_the_five_heaviest_are_named(self):
        found = _weighted_sum(_pairs(*((float(score), float(score) - 1.0) for score in range(1, 11))), seed=1)
        self.assertEqual([each.name for each in found.largest_scores], ["f9", "f8", "f7", "f6", "f5"])
        self.assertAlmostEqual(found.largest_scores_share, (10 + 9 + 8 + 7 + 6) / 55)
        self.assertAlmostEqual(found.largest_changes_share, 0.5)

    def test_the_interval_is_over_modules(self):
        alike = [ScorePair(f"m{index}", name, 10.0, 9.0) for index in range(8) for name in "fg"]
        summary = _weighted_sum(alike, seed=1).summary
        for value in (summary.low, summary.geometric_mean, summary.high):
            self.assertAlmostEqual(value, 0.9)
        one_module = [ScorePair("m", str(index), 10.0, 5.0 + index) for index in range(8)]
        summary = _weighted_sum(one_module, seed=1).summary
        self.assertEqual((summary.low, summary.high), (summary.geometric_mean, summary.geometric_mean))

    def test_a_score_that_is_maximised_is_better_when_it_grows(self):
        found = _weighted_sum(_pairs((100.0, 125.0)), seed=1, larger_is_better=True)
        self.assertEqual((found.summary.geometric_mean, found.summary.better), (0.8, 1))
        self.assertEqual(found.largest_changes[0].change, -0.25)

    def test_nothing_to_add_up_has_no_sum(self):
        self.assertIsNone(weighted_sum([], seed=1))
        self.assertIsNone(weighted_sum(_pairs((0.0, 0.0), (0.0, 3.0)), seed=1))

    def test_equal_scores_have_no_movers(self):
        found = _weighted_sum(_pairs((5.0, 5.0)), seed=1)
        expected = (1.0, (), 0.0)
        self.assertEqual((found.summary.geometric_mean, found.largest_changes, found.largest_changes_share), expected)
        self.assertEqual(len(contribution_sentences(found, "modules")), 1)

    def test_a_negative_score_is_refused(self):
        with self.assertRaisesRegex(ValueError, "must be finite and not negative"):
            weighted_sum(_pairs((1.0, -1.0)), seed=1)

    def test_json_and_back(self):
        found = _weighted_sum(_pairs((3.0, 4.0), (5.0, 4.0)), seed=1)
        self.assertEqual(WeightedSum.from_json(found.to_json()), found)
