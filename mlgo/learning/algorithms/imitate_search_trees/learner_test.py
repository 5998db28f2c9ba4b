"""Imitation of a search by trees: it finds margins that are not linear, and else keeps the start."""

import unittest

import numpy as np

from mlgo.learning.algorithms.imitate_search_trees.algorithm import ImitateSearchTreesConfig
from mlgo.learning.algorithms.imitate_search_trees.learner import ImitateSearchTreesLearner
from mlgo.learning.checkpoint import decode_arrays, digest_of, encode_arrays
from mlgo.learning.exact_network import exact_network
from mlgo.learning.learner import MovePlan, Variant
from mlgo.learning.moves import MARGIN_BYTES
from mlgo.learning.network import NetworkConfig, initial_network
from mlgo.learning.observations import pack
from mlgo.learning.testing.calls import NORMALIZER, PROBLEM, START, iterations


def margins(cost: np.ndarray, uses: np.ndarray) -> np.ndarray:
    """Bytes that inlining saves: cheap calls pay if there are others, and dear calls if there are none."""
    return np.where((cost < 45) == (uses > 1), 60.0, -40.0)


def learner(state=None, network=None, **settings) -> ImitateSearchTreesLearner:
    network = network or initial_network(NORMALIZER, 1, NetworkConfig((8,), (4,)))
    config = ImitateSearchTreesConfig(**{**START, "leaf_deviation": 3.0, **settings})
    return ImitateSearchTreesLearner(network, PROBLEM, 1, config, state)


def answers(of: ImitateSearchTreesLearner, cost: np.ndarray, uses: np.ndarray) -> np.ndarray:
    """Margins that the learner's policy gives, in bytes."""
    values = {"cost": cost[:, None], "uses": uses[:, None]}
    packed = pack(values, np.zeros(len(cost), np.int64), NORMALIZER, PROBLEM)
    return MARGIN_BYTES * exact_network(of.network.weights).row_logits(packed.levels)


class ImitateSearchTreesTest(unittest.TestCase):
    def test_it_finds_margins_that_are_not_linear(self):
        random = np.random.default_rng(2)
        cost, uses = random.integers(0, 101, 500), random.integers(1, 4, 500)
        for per_move in (1, 5):
            with self.subTest(per_move):
                found = learner()
                for number, samples in enumerate(iterations(4, per_move, margins)):
                    figures = found.update(number, samples)
                right = (answers(found, cost, uses) > 0) == (margins(cost, uses) > 0)
                self.assertGreater(right.mean(), 0.95)
                self.assertGreater(figures["explained_variance"], 0.9)
                self.assertGreater(figures["share_of_gain"], 0.95)

    def test_the_first_policy_is_the_start(self):
        found = answers(learner(), np.array([0, 40, 60, 100]), np.ones(4, np.int64))
        np.testing.assert_array_equal(found > 0, [True, True, False, False])

    def test_what_is_preferred_stays_so(self):
        end = next(column.end for column in NORMALIZER.columns if column.feature == "cost")
        cost, uses = np.zeros(3, np.int64), np.array([1, 2, 3])
        for preference in (-12.0, 12.0):
            found = learner(preferred_below={"cost": (float(end), preference)})
            for samples in [None, *iterations(2, 1, margins)]:
                if samples:
                    found.update(0, samples)
                np.testing.assert_array_equal(answers(found, cost, uses) > 0, [preference > 0] * 3)

    def test_it_forgets(self):
        found = learner(memory=2)
        for number, samples in enumerate(iterations(4, 5, margins)):
            found.update(number, samples)
        remembered = {name.partition("/")[0] for name in found.state() if "/" in name}
        self.assertEqual(remembered, {"0", "1"})

    def test_a_stopped_learner_goes_on_to_the_same_bytes(self):
        whole, stopped = learner(), learner()
        given = iterations(3, 2, margins)
        for number, samples in enumerate(given):
            whole.update(number, samples)
        stopped.update(0, given[0])
        resumed = learner(decode_arrays(encode_arrays(stopped.state()), "state"), stopped.network)
        for number in (1, 2):
            resumed.update(number, given[number])
        self.assertEqual(digest_of(whole.network.weights), digest_of(resumed.network.weights))
        self.assertEqual(digest_of(whole.state()), digest_of(resumed.state()))

    def test_its_policies_have_the_forms_that_it_names(self):
        start = initial_network(NORMALIZER, 1, NetworkConfig((8,), (4,)))
        found = learner()
        forms = ImitateSearchTreesLearner.network_forms(start, found.config)
        shapes = [{name: array.shape for name, array in network.weights.items()} for network in forms]
        self.assertIn({name: array.shape for name, array in found.network.weights.items()}, shapes)
        found.update(0, iterations(1, 1, margins)[0])
        self.assertIn({name: array.shape for name, array in found.network.weights.items()}, shapes)

    def test_what_is_compiled(self):
        found = learner(compiles_per_module=9, compiles_against_policy=4, unpromising=0.25)
        self.assertEqual(found.move_plan, MovePlan(9, 4, 0.25))
        self.assertEqual(found.variants(0), [Variant(found.network, exploring=False)])

    def test_wrong_settings_are_named(self):
        for wrong in (
            {"compiles_per_module": 1},
            {"compiles_against_policy": 4},
            {"unpromising": 1.5},
            {"trees": 0},
            {"depth": 5},
            {"rate": 1.5},
            {"memory": 0},
            {"prior": -1.0},
            {"preferred_below": {"cost": (1.0,)}},
        ):
            message = f"ImitateSearchTreesConfig.*{next(iter(wrong))}"
            with self.subTest(**wrong), self.assertRaisesRegex(ValueError, message):
                ImitateSearchTreesConfig(**wrong)


if __name__ == "__main__":
    unittest.main()
