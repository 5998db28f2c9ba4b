"""Tests of mlgo.score.function_scores."""

import dataclasses
import unittest

import numpy as np

from mlgo.compiler.training_log import TrainingLog
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.score.function_scores import FunctionScore, score_ratio, scores_of_log


def log(contexts, observation_context, outcomes):
    count = len(observation_context)
    return TrainingLog(
        contexts=contexts,
        observation_context=np.array(observation_context, np.int32),
        features={},
        actions=np.zeros(count, np.int64),
        outcomes=np.array(outcomes, np.float32),
        extra_outputs={},
    )


class ScoresOfTest(unittest.TestCase):
    def test_only_functions_with_decisions_and_a_score_count(self):
        found = scores_of_log(log(["f", "idle", "lost", "g"], [0, 0, 2, 3], [1.5, 2.0, np.nan, 4.0]))
        self.assertEqual(found, {"f": FunctionScore(2, 1.5), "g": FunctionScore(1, 4.0)})

    def test_function_that_comes_twice_is_one(self):
        found = scores_of_log(log(["f", "g", "f"], [0, 1, 2, 2], [1.0, 2.0, 3.0]))
        self.assertEqual(found, {"f": FunctionScore(3, 3.0), "g": FunctionScore(1, 2.0)})

    def test_infinite_score_does_not_count(self):
        self.assertEqual(scores_of_log(log(["f"], [0], [np.inf])), {})


class ScoreRatioTest(unittest.TestCase):
    def test_less_is_better_where_the_problem_says_so(self):
        self.assertAlmostEqual(score_ratio(PROBLEM, 100.0, 50.0), 50.01 / 100.01)
        more_is_better = dataclasses.replace(PROBLEM, score_goal="maximize")
        self.assertAlmostEqual(score_ratio(more_is_better, 100.0, 50.0), 100.01 / 50.01)

    def test_equal_scores_have_ratio_one_exactly(self):
        for score in (0.0, 0.1, 12345.678):
            self.assertEqual(score_ratio(PROBLEM, score, score), 1.0)

    def test_negative_or_infinite_scores_have_none(self):
        for pair in ((-1.0, 1.0), (1.0, float("inf")), (float("nan"), 1.0)):
            with self.assertRaisesRegex(ValueError, "must be finite and at least 0"):
                score_ratio(PROBLEM, *pair)


if __name__ == "__main__":
    unittest.main()
