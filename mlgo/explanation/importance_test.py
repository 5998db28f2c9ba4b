"""Permutation importance of policies with known features."""

import dataclasses
import unittest

import numpy as np

from mlgo.explanation.importance import importances, permuted_levels, share_of
from mlgo.explanation.queried_policy import queried_policy
from mlgo.explanation.testing import states
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION


def _importances(network, problem, recorded, seed=1):
    samples = {each.module: states.replayed(network, problem, each).observations for each in recorded}
    return {each.feature: each for each in importances(queried_policy(network, problem), samples, seed, 4)}


class ImportanceTest(unittest.TestCase):
    def test_only_the_feature_that_decides_is_important_and_by_a_known_share(self):
        recorded = [states.inlining(f"m{index}", 500, index) for index in range(4)]
        network = states.linear(INLINING, {"callee_users": (0, 1, 6.0), "cost_estimate": (0, 9, 0.0)}, -3.0)
        found = _importances(network, INLINING, recorded)
        cost, users = found["cost_estimate"], found["callee_users"]
        self.assertEqual((cost.changed.count, cost.confidence_lost), (0, 0))
        ones = np.mean([each.features["callee_users"].mean() for each in recorded])
        # Half a permutation's pairs differ, of n draws with probability 2 p (1 - p).
        self.assertAlmostEqual(users.changed.share, 2 * ones * (1 - ones), delta=0.03)
        self.assertEqual((users.changed.total, users.changed.modules), (2000, 4))
        sure = 1 / (1 + np.exp(-3.0))
        self.assertAlmostEqual(users.confidence_lost, users.changed.share * (2 * sure - 1), places=3)

    def test_only_compared_features_matter_to_a_categorical_policy(self):
        recorded = [states.eviction("a", 300, 1), states.eviction("b", 300, 2)]
        found = _importances(states.smallest_evictor(), EVICTION, recorded)
        self.assertEqual(list(found), ["liverange_size", "nr_urgent", "progress"])
        self.assertEqual((found["nr_urgent"].changed.share, found["progress"].changed.share), (0, 0))
        self.assertGreater(found["liverange_size"].changed.share, 0.5)
        self.assertLessEqual(found["liverange_size"].changed.low, found["liverange_size"].changed.share)

    def test_the_same_seed_gives_the_same(self):
        recorded = [states.eviction("a", 100, 1), states.eviction("b", 100, 2)]
        first, again, other = (_importances(states.smallest_evictor(), EVICTION, recorded, seed) for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_values_are_only_dealt_out_anew_and_among_their_like(self):
        network = states.smallest_evictor()
        sample = states.replayed(network, EVICTION, states.eviction("a", 60, 1)).observations
        features = [column.feature for column in network.normalizer.columns]
        last = sample.positions == sample.position_count - 1
        for feature in features:
            columns = np.array([each == feature for each in features] + [False])
            after = permuted_levels(EVICTION, sample, feature, columns, np.random.default_rng(1))
            np.testing.assert_array_equal(after[:, ~columns], sample.levels[:, ~columns])
            self.assertFalse(np.array_equal(after, sample.levels))
            if feature == "progress":
                by_state = np.split(after[:, columns], sample.offsets[1:-1])
                self.assertTrue(all((values == values[0]).all() for values in by_state))
                pairs = (np.stack([values[0] for values in by_state]), sample.levels[sample.offsets[:-1]][:, columns])
            else:
                found = np.sort(after[last][:, columns], axis=0)
                np.testing.assert_array_equal(found, np.sort(sample.levels[last][:, columns], axis=0))
                pairs = (after[:, columns], sample.levels[:, columns])
            np.testing.assert_array_equal(np.sort(pairs[0], axis=0), np.sort(pairs[1], axis=0))

    def test_the_interval_is_over_modules(self):
        even = share_of({f"m{n}": (10, 100) for n in range(20)}, 1)
        self.assertEqual((even.share, even.low, even.high), (0.1, 0.1, 0.1))
        uneven = share_of({f"m{n}": (20 * (n % 2), 100) for n in range(20)}, 1)
        self.assertEqual(dataclasses.replace(uneven, low=0, high=0), dataclasses.replace(even, low=0, high=0))
        self.assertTrue(0.02 < uneven.low < 0.08 < 0.12 < uneven.high < 0.18, uneven)
        with self.assertRaisesRegex(ValueError, "at least one decision"):
            share_of({"m": (0, 0)}, 1)
        self.assertEqual(share_of({"m": (0, 7)}, 1).high, 0.0)
