"""Logged scores: which functions count, their ratios, and the credit of decisions, for both goals."""

import dataclasses
import math
import unittest

import numpy as np

from mlgo.compiler.training_log import TrainingLog
from mlgo.problems.objective import LoggedScore
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.problems.tensor import TensorSpec
from mlgo.score.function_scores import FunctionScore
from mlgo.score.problem_score import score_of, scores_of_log

assert isinstance(PROBLEM.score, LoggedScore)
SMALLER = score_of(PROBLEM)
LARGER = score_of(dataclasses.replace(PROBLEM, score=dataclasses.replace(PROBLEM.score, goal="maximize")))


def log(contexts, observation_context, outcomes):
    places, actions = np.array(observation_context, np.int32), np.zeros(len(observation_context), np.int64)
    return TrainingLog(contexts, places, {}, actions, np.array(outcomes, np.float32), {})


def scores(**functions: float) -> dict[str, FunctionScore]:
    return {name: FunctionScore(1, score) for name, score in functions.items()}


def credit(score, default: float, found: float) -> float:
    sides = scores(f=default), scores(f=found)
    corpus_score = score.for_corpus({"m": sides[0]})
    ((contexts, credits),) = corpus_score.credits_of("m", [sides[1]], sides[0], [log(["f"], [0], [found])])
    assert contexts == ("f",)
    return credits["f"]


class ReadTest(unittest.TestCase):
    def test_functions_that_count(self):
        # Those with decisions and a score.
        read = log(["f", "idle", "lost", "g"], [0, 0, 2, 3], [1.5, 2.0, np.nan, 4.0])
        self.assertEqual(scores_of_log(read), {"f": FunctionScore(2, 1.5), "g": FunctionScore(1, 4.0)})
        # One that occurs twice is one.
        read = log(["f", "g", "f"], [0, 1, 2, 2], [1.0, 2.0, 3.0])
        self.assertEqual(scores_of_log(read), {"f": FunctionScore(3, 3.0), "g": FunctionScore(1, 2.0)})
        self.assertEqual(scores_of_log(log(["f"], [0], [np.inf])), {})


class RatioTest(unittest.TestCase):
    def test_below_one_is_better_for_both_goals(self):
        self.assertEqual(SMALLER.ratio(100.0, 50.0), 50.01 / 100.01)
        self.assertEqual(LARGER.ratio(50.0, 100.0), 1 / (100.01 / 50.01))

    def test_equal_scores_have_ratio_one_exactly(self):
        for score in (0.0, 0.1, 12345.678):
            self.assertEqual((SMALLER.ratio(score, score), LARGER.ratio(score, score)), (1.0, 1.0))

    def test_the_offset_is_the_problems(self):
        data = LoggedScore(TensorSpec("score", "float32", (1,)), "minimize", offset=1.0)
        self.assertEqual(score_of(dataclasses.replace(PROBLEM, score=data)).ratio(99.0, 49.0), 0.5)

    def test_negative_or_infinite_scores_have_none(self):
        for pair in ((-1.0, 1.0), (1.0, float("inf")), (float("nan"), 1.0)):
            with self.assertRaisesRegex(ValueError, "must be finite and at least 0"):
                SMALLER.ratio(*pair)


class CreditTest(unittest.TestCase):
    def test_known_values(self):
        found = [credit(SMALLER, default, score) for default, score in ((100, 98), (100, 100), (0, 0), (1, 2))]
        np.testing.assert_allclose(found, [0.0202, 0, 0, -math.log(2.01 / 1.01)], atol=1e-4)

    def test_gains_and_losses_of_one_size_cancel_and_are_bounded_alike(self):
        for factor in (1.1, 2.0, 9.0, 100.0):
            better, worse = credit(SMALLER, 100.0 * factor, 100.0), credit(SMALLER, 100.0, 100.0 * factor)
            self.assertAlmostEqual(better, -worse)
            self.assertAlmostEqual(better, min(math.log(factor), math.log(10)), places=3)
        found, default = scores(f=1e6, g=1e6), scores(f=1.0, g=1.0)
        self.assertEqual(SMALLER.for_corpus({}).module_improvement("m", found, default), (-math.log(10), 2.0))

    def test_credit_is_positive_for_better_code_whatever_the_goal(self):
        self.assertGreater(credit(SMALLER, 100.0, 50.0), 0)
        self.assertLess(credit(LARGER, 100.0, 50.0), 0)
        self.assertLess(credit(SMALLER, 50.0, 100.0), 0)
        self.assertAlmostEqual(credit(LARGER, 49.99, 99.99), math.log(2))
        # One whose default score is zero has a credit too.
        self.assertAlmostEqual(credit(SMALLER, 0.0, 0.01), -math.log(2))

    def test_modules_improve_in_the_direction_of_the_goal(self):
        default, found = scores(f=50.0, g=10.0, gone=1.0), scores(f=100.0, g=20.0, new=1.0)
        expected = (math.log(100.01 / 50.01) + math.log(20.01 / 10.01)) / 2
        for score, sign in ((SMALLER, -1.0), (LARGER, 1.0)):
            result = score.for_corpus({}).module_improvement("m", found, default)
            assert result is not None
            improvement, weight = result
            self.assertAlmostEqual(improvement, sign * expected)
            self.assertEqual(weight, 2.0)
        self.assertIsNone(SMALLER.for_corpus({}).module_improvement("m", scores(f=1.0), scores(g=1.0)))


class RewardTest(unittest.TestCase):
    def test_only_the_score_itself(self):
        self.assertEqual([SMALLER.chosen_reward(name) for name in (None, "", "score")], ["score"] * 3)
        with self.assertRaisesRegex(ValueError, "reward 'linked_code' is not supported; the rewards are score"):
            SMALLER.for_corpus({}, "linked_code")

    def test_totals_are_of_the_functions_that_all_sides_have(self):
        found = SMALLER.totals([scores(f=1.0, g=2.0), scores(g=3.0, h=4.0)])
        self.assertEqual(found, ("scores of 1 functions, added up", [2.0, 3.0]))
