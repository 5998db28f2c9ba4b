"""Rewards and random streams: known values."""

import unittest

import numpy as np

from mlgo.run.determinism import derive_seed, generator
from mlgo.score.rewards import DELTA, decision_returns, relative_improvement


class RewardsTest(unittest.TestCase):
    def test_known_values(self):
        rewards = relative_improvement(np.array([98.0, 100, 0, 2]), np.array([100.0, 100, 0, 1]), DELTA)
        np.testing.assert_allclose(rewards, [0.02, 0, 0, -0.99], atol=1e-4)

    def test_a_function_whose_default_score_is_zero_has_a_reward(self):
        self.assertEqual(relative_improvement(np.array([0.01]), np.array([0.0]))[0], np.float32(-1))

    def test_negative_or_missing_scores_are_refused(self):
        for wrong in (-1.0, np.nan, np.inf):
            with self.assertRaisesRegex(ValueError, "policy scores must be finite and not negative"):
                relative_improvement(np.array([wrong]), np.array([1.0]))

    def test_every_decision_gets_its_functions_reward(self):
        np.testing.assert_array_equal(
            decision_returns(np.array([0.5, -1]), [0, 0, 1, 0]), np.float32([0.5, 0.5, -1, 0.5])
        )


class SeedsTest(unittest.TestCase):
    def test_seeds_depend_on_every_label_and_its_type(self):
        seeds = [derive_seed(1), derive_seed(2), derive_seed(1, "a"), derive_seed(1, "a", 1), derive_seed(1, "a", "1")]
        seeds += [derive_seed(1, "a", 2), derive_seed(1, "b", 1)]
        self.assertEqual(len(set(seeds)), len(seeds))
        self.assertTrue(all(0 < seed < 2**63 for seed in seeds))

    def test_streams_repeat(self):
        self.assertEqual(generator(1, "x").integers(2**60), generator(1, "x").integers(2**60))
        # The value itself: a change would change every trained policy.
        self.assertEqual(derive_seed(1, "x"), 3678298648931142009)


if __name__ == "__main__":
    unittest.main()
