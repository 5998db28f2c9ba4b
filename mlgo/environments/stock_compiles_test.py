import unittest

from mlgo.environments.stock_compiles import POLICY, ModuleScores, comparison_of, stock_problem
from mlgo.problems.problem import load_problem

EVICTION = load_problem("regalloc_eviction")


class StockCompilesTest(unittest.TestCase):
    def test_a_part_that_one_side_lacks_costs_nothing_there(self):
        scores = ModuleScores("a.c", {"f": 3.0, "g": 1.0}, {"f": 1.0, "h": 1.0})
        found = comparison_of([scores], EVICTION, seed=1)
        # (policy + 1) / (default + 1)
        self.assertEqual([row.ratios[POLICY] for row in found.rows], [0.5, 0.5, 2.0])

    def test_failed_modules_are_left_out_of_the_summary(self):
        good = [ModuleScores(f"{name}.c", {"f": 3.0}, {"f": 1.0}) for name in "ab"]
        failed = ModuleScores("c.c", {}, {}, "the policy: crash: signal 11")
        found = comparison_of([*good, failed], EVICTION, seed=1)
        summary = found.summaries[POLICY]
        assert summary is not None
        self.assertEqual(list(found.failed), ["c.c"])
        self.assertEqual((summary.modules, summary.functions, summary.better), (2, 2, 2))
        self.assertAlmostEqual(summary.geometric_mean, 0.5)
        self.assertIsNone(comparison_of([failed], EVICTION, seed=1).summaries[POLICY])

    def test_a_stock_clang_has_no_features_of_ours(self):
        inlining = load_problem("inlining_for_size")
        names = {spec.name for spec in stock_problem(inlining).observation_specs}
        self.assertTrue(inlining.features_of_ours)
        self.assertFalse(names & inlining.features_of_ours)
