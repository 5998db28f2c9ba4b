import dataclasses
import unittest

from mlgo.evaluation.comparison import compare, rows_to_csv
from mlgo.problems.objective import LoggedScore
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.score.function_scores import FunctionScore
from mlgo.score.problem_score import score_of
from mlgo.trace.outcomes import ModuleRecord, Outcome

SCORE = score_of(PROBLEM)


def traced(**scores):
    functions = {name: FunctionScore(2, score) for name, score in scores.items()}
    return ModuleRecord(Outcome.TRACED, functions=functions)


DEFAULT = {
    "m": traced(f=99.99, g=9.99),
    "n": traced(h=1.0),
    "broken": traced(f=1.0),
    "idle": ModuleRecord(Outcome.NO_DECISIONS),
}
POLICY = {**DEFAULT, "m": traced(f=49.99, g=19.99, extra=1.0), "broken": ModuleRecord(Outcome.FAILED, "crash")}


def compared(sides, score=SCORE, **more):
    compared_in = score.for_corpus({}).comparison_rows
    return compare(sides, compared_in, score.ratio, seed=1, larger_is_better=score.larger_is_better, **more)


class CompareTest(unittest.TestCase):
    def setUp(self):
        sides = {"default": DEFAULT, "policy": POLICY, "warm_start": DEFAULT}
        self.comparison = compared(sides, seen_functions=frozenset({"f"}))

    def test_functions_that_all_sides_have_are_compared(self):
        found = [(row.module, row.function, row.ratios["policy"], row.seen) for row in self.comparison.rows]
        self.assertEqual(found, [("m", "f", 0.5, True), ("m", "g", 2.0, False), ("n", "h", 1.0, False)])
        self.assertEqual(self.comparison.unmatched, 1)

    def test_failed_module_is_named_and_left_out_on_both_sides(self):
        self.assertEqual(self.comparison.failed, {"broken": "policy: crash"})
        self.assertNotIn("broken", [row.module for row in self.comparison.rows])

    def test_summaries(self):
        summary = self.comparison.summaries["policy"]
        self.assertEqual((summary.better, summary.worse, summary.equal), (1, 1, 1))
        self.assertAlmostEqual(summary.geometric_mean, 1.0)
        self.assertEqual(self.comparison.summaries["warm_start"].geometric_mean, 1.0)
        self.assertEqual(self.comparison.unseen["policy"].functions, 2)

    def test_the_weighted_sum_counts_functions_by_their_score(self):
        found = self.comparison.weighted["policy"]
        self.assertAlmostEqual(found.summary.geometric_mean, (49.99 + 19.99 + 1.0) / (99.99 + 9.99 + 1.0))
        self.assertEqual(found.largest_scores[0].name, "f")
        self.assertEqual(self.comparison.to_json()["weighted_sum"]["warm_start"]["summary"]["geometric_mean"], 1.0)

    def test_a_score_that_is_maximised_is_better_in_its_sum_when_it_grows(self):
        assert isinstance(PROBLEM.score, LoggedScore)
        score = score_of(dataclasses.replace(PROBLEM, score=dataclasses.replace(PROBLEM.score, goal="maximize")))
        found = compared({"default": {"m": traced(f=5.0)}, "p": {"m": traced(f=10.0)}}, score)
        self.assertEqual(found.weighted["p"].summary.geometric_mean, 0.5)

    def test_different_modules_are_refused(self):
        with self.assertRaisesRegex(ValueError, "different modules"):
            compared({"default": DEFAULT, "policy": {}})

    def test_nothing_to_compare_has_no_summary(self):
        idle = {"m": ModuleRecord(Outcome.NO_DECISIONS)}
        comparison = compared({"default": idle, "policy": idle})
        self.assertEqual(comparison.to_json()["all_functions"], {"policy": None})

    def test_csv(self):
        lines = rows_to_csv(self.comparison.rows, ["policy"]).decode().splitlines()
        head = "module,function,default_decisions,default_score,policy_score,policy_ratio,seen_in_training"
        self.assertEqual(lines[:2], [head, "m,f,2,99.99,49.99,0.5,1"])
        self.assertEqual(len(lines), 4)
