"""Ratios of scores, and one line in which both sides have the same decisions."""

import unittest

from mlgo.environments.scores import channel_score
from mlgo.environments.stock_compiles import ModuleScores, stock_problem, summary_of
from mlgo.problems.problem import load_problem

EVICTION = load_problem("regalloc_eviction")


class StockCompilesTest(unittest.TestCase):
    def test_a_part_that_one_side_lacks_costs_nothing_there(self):
        scores = ModuleScores("a.c", {"f": 3.0, "g": 1.0}, {"f": 1.0, "h": 1.0})
        # (policy + 1) / (default + 1)
        self.assertEqual(scores.ratios(channel_score(EVICTION)), [0.5, 0.5, 2.0])

    def test_failed_modules_are_left_out_of_the_summary(self):
        good = [ModuleScores(f"{name}.c", {"f": 3.0}, {"f": 1.0}) for name in "ab"]
        failed = ModuleScores("c.c", {}, {}, "the policy: crash: signal 11")
        summary = summary_of([*good, failed], EVICTION, seed=1)
        self.assertEqual((summary.modules, summary.functions, summary.better), (2, 2, 2))
        self.assertAlmostEqual(summary.geometric_mean, 0.5)
        self.assertIsNone(summary_of([failed], EVICTION, seed=1))

    def test_a_stock_clang_has_no_features_of_ours(self):
        inlining = load_problem("inlining_for_size")
        names = {spec.name for spec in stock_problem(inlining).observation_specs}
        self.assertTrue(inlining.features_of_ours)
        self.assertFalse(names & inlining.features_of_ours)


if __name__ == "__main__":
    unittest.main()
