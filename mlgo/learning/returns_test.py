"""Returns: centred per function over the samples of one module, clamped, refused when they mean nothing."""

import unittest

import numpy as np

from mlgo.learning.divergence import Divergence, DivergenceError
from mlgo.learning.learner import Sample
from mlgo.learning.observations import pack
from mlgo.learning.returns import MovingAverage, centred, returns_of
from mlgo.learning.testing import synthetic
from mlgo.run.exit_codes import ExitCode, RunError


def _sample(module: str, variant: int, credits: dict, contexts=("f", "g"), group=(0, 0, 1)) -> Sample:
    values = synthetic.features(np.random.default_rng(variant), len(group))
    packed = pack(values, synthetic.best(values), synthetic.normalizer(), synthetic.PROBLEM, np.array(group))
    return Sample(module, variant, 0.0, 1.0, packed, contexts, credits)


class ReturnsTest(unittest.TestCase):
    def test_centred(self):
        found = centred([{"f": 1.0, "g": 5.0}, {"f": 4.0}, {"f": 1.0}])
        self.assertEqual(found, [{"f": -1.5}, {"f": 3.0}, {"f": -1.5}])

    def test_functions_are_centred_within_their_module(self):
        samples = [
            _sample("a", 0, {"f": 0.5, "g": -7.0}),
            _sample("a", 1, {"f": 0.25, "g": 0.0}),
            _sample("b", 0, {"f": 0.125, "g": 0.25}),
            _sample("b", 1, {"f": 0.25}),
        ]
        observations, returns = returns_of(samples, leave_one_out=True)
        # g of b has a score in one sample only.
        np.testing.assert_array_equal(returns, [0.25, 0.25, -7, -0.25, -0.25, 7, -0.125, -0.125, 0.125, 0.125])
        self.assertEqual(returns.dtype, np.float32)
        self.assertEqual(len(observations), 10)
        self.assertEqual(len(np.unique(observations.group)), 6)
        _, uncentred = returns_of(samples[:1], leave_one_out=False)
        np.testing.assert_array_equal(uncentred, [0.5, 0.5, -7])

    def test_moving_averages_are_learned_and_remembered(self):
        average, first = MovingAverage(0.75), [{"f": 0.5}, {"f": 1.0, "g": -1.0}]
        self.assertEqual(average.subtract_baseline("a", first), first)
        known = MovingAverage(0.75, average.state())
        for each in (average, known):
            found = each.subtract_baseline("a", [{"f": 1.0, "g": 0.0}])
            self.assertEqual(found, [{"f": 1.0 - (0.75 * 0.125 + 0.25), "g": 0.25}])
            self.assertEqual(each.subtract_baseline("b", [{"f": 1.0}]), [{"f": 1.0}])
        self.assertEqual(average.state()["names"].dtype, np.uint64)
        sample = _sample("a", 0, {"f": 0.5, "g": 0.25})
        _, returns = returns_of([sample], leave_one_out=True, baseline=MovingAverage(0.5))
        np.testing.assert_array_equal(returns, [0.5, 0.5, 0.25])

    def test_without_decisions_or_scores_there_is_nothing_to_learn(self):
        with self.assertRaises(RunError) as caught:
            returns_of([_sample("a", 0, {}), Sample("b", 0, 0.0, 1.0)], leave_one_out=False)
        self.assertEqual(caught.exception.exit_code, ExitCode.NOTHING_PRODUCED)

    def test_improvements_that_are_not_finite_are_named(self):
        with self.assertRaisesRegex(DivergenceError, "a, sample 3: the credit of 'f' is nan") as caught:
            returns_of([_sample("a", 3, {"f": float("nan")})], leave_one_out=False)
        self.assertEqual(caught.exception.kind, Divergence.NOT_FINITE)

    def test_samples_are_checked(self):
        with self.assertRaisesRegex(ValueError, "contexts that are not among the 1 named"):
            _sample("a", 0, {}, contexts=("f",))
        with self.assertRaisesRegex(ValueError, "weight 0"):
            Sample("a", 0, 0.0, 0.0)
