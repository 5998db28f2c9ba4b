"""Made-up policies are what their names say."""

import unittest

import numpy as np

from mlgo.policy.directory import load_policy
from mlgo.policy.reference import decide_many
from mlgo.problems.problem import load_problem
from mlgo.run.exit_codes import RunError
from mlgo.run.locate import runfile
from tests.policies import policies

INLINING = load_problem("inlining_for_size")


def folder_of(target: str):
    return runfile(f"tests/policies/{target}/policy.json").parent


class MadeUpTest(unittest.TestCase):
    def test_the_threshold_inlines_what_costs_less_than_5(self):
        network, record = load_policy(folder_of("threshold_inlining_policy"), INLINING)
        self.assertEqual(record["training"], {"made_up": "threshold"})
        costs = np.array([-(2**63), -15000, -1, 0, 1, 4, 5, 6, 100, 2**31, 2**63 - 1])
        random = np.random.default_rng(0)
        calls = {spec.name: random.integers(-100, 100, (len(costs), 1)) for spec in INLINING.observation_specs}
        decisions = decide_many(network, INLINING, calls | {"cost_estimate": costs[:, None]})
        np.testing.assert_array_equal(decisions[:, 0], costs < policies.MIN_SIZE_THRESHOLD)

    def test_a_random_inlining_policy_says_yes_and_no(self):
        network = policies.random_network(policies.spread_normalizer(INLINING), INLINING, 1)
        random = np.random.default_rng(1)
        calls = {spec.name: random.integers(0, 20, (500, 1)) for spec in INLINING.observation_specs}
        self.assertEqual(set(decide_many(network, INLINING, calls)[:, 0]), {0, 1})

    def test_seeds_make_different_policies(self):
        priority = load_problem("regalloc_priority")
        normalizer = policies.spread_normalizer(priority)
        one, two = (policies.random_network(normalizer, priority, seed).weights["policy/0/kernel"] for seed in (1, 2))
        self.assertFalse(np.array_equal(one, two))

    def test_fewer_features(self):
        network, record = load_policy(folder_of("fewer_features_inlining_policy"), INLINING)
        self.assertEqual(len(record["features"]), len(INLINING.observation_specs) - 1)
        self.assertNotIn("callee_users", (*record["features"], *network.normalizer.features))
        with self.assertRaisesRegex(KeyError, "has no observation 'colour'"):
            policies.without_feature(network.normalizer, "colour", INLINING)

    def test_an_unknown_feature_is_refused_by_name(self):
        for short, name in (
            ("eviction", "regalloc_eviction"),
            ("inlining", INLINING.name),
            ("priority", "regalloc_priority"),
        ):
            with self.assertRaisesRegex(RunError, "it wants the feature 'colour', which the compiler lacks"):
                load_policy(folder_of(f"unknown_feature_{short}_policy"), load_problem(name))


if __name__ == "__main__":
    unittest.main()
