"""Orders: scales keep them and spread them evenly; agreement counts pairs of one function."""

import unittest

import numpy as np

from mlgo.learning.observations import pack
from mlgo.learning.order import HIGHEST, LOWEST, order_agreement, order_scale
from mlgo.learning.testing.synthetic_environments import ContinuousEnvironment


class OrderTest(unittest.TestCase):
    def test_bit_fields_become_evenly_spread_ranks(self):
        priorities = np.array([5, 2**31, 2**31 + 2**29, 7, 5, 2**31], np.float32)
        targets = order_scale(priorities).apply(priorities)
        self.assertTrue(
            (np.sign(np.subtract.outer(targets, targets)) == np.sign(np.subtract.outer(priorities, priorities))).all()
        )
        self.assertTrue(LOWEST < targets.min() and targets.max() < HIGHEST)
        self.assertAlmostEqual(targets[3] - targets[0], 1.5)
        np.testing.assert_array_equal(order_scale(priorities).apply([0, 1e12]), [targets.min(), targets.max()])

    def test_agreement_is_about_neighbours_of_one_function(self):
        features = {name: np.zeros((5, 1), np.float32) for name in ("weight", "length")}
        environment = ContinuousEnvironment()
        actions, groups = np.array([1, 2, 2, 4, 3], np.float32), np.array([0, 0, 0, 1, 1])
        taken = pack(features, actions, environment.normalizer, environment.problem, groups)
        self.assertEqual(order_agreement(taken, actions), 1.0)
        self.assertEqual(order_agreement(taken, np.zeros(5)), 0.5)
        self.assertEqual(order_agreement(taken, np.array([1, 2, 9, 3, 4])), 0.5)
        self.assertEqual(order_agreement(taken.select(np.array([1, 2])), np.zeros(2)), 0.5)


if __name__ == "__main__":
    unittest.main()
