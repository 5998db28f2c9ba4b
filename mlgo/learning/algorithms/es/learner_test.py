"""Evolution strategies: antithetic candidates, ranks, failed compiles, repetition and resuming byte for byte."""

import unittest

import numpy as np

from mlgo.learning.algorithms.es.algorithm import EsConfig
from mlgo.learning.algorithms.es.learner import EsLearner, centred_ranks, trained_names
from mlgo.learning.checkpoint import digest_of
from mlgo.learning.learner import Sample, Variant
from mlgo.learning.network import NetworkConfig, PolicyNetwork, initial_network
from mlgo.learning.returns import fitness_of
from mlgo.learning.testing import synthetic_environments as synthetic
from mlgo.learning.testing.learner_contract import check_repeatable
from mlgo.run.exit_codes import ExitCode, RunError

_ENVIRONMENT = synthetic.BinaryEnvironment()


def _learner(seed: int = 1, network=None, state=None, **settings) -> EsLearner:
    network = network or initial_network(_ENVIRONMENT.normalizer, 1, NetworkConfig((8, 4), (4,)))
    return EsLearner(network, _ENVIRONMENT.problem, seed, EsConfig(**{"pairs": 3, **settings}), state)


def _weights(variant: Variant, name: str) -> np.ndarray:
    assert isinstance(variant.network, PolicyNetwork)
    return variant.network.weights[name]


class EvolutionTest(unittest.TestCase):
    def test_candidates_are_antithetic_and_only_the_policy_changes(self):
        learner = _learner()
        variants = learner.variants(4)
        self.assertEqual(len(variants), 6)
        self.assertFalse(any(variant.exploring for variant in variants))
        for name, centre in learner.network.weights.items():
            above, below, other = (_weights(variants[index], name) for index in (0, 1, 2))
            if name.startswith("value/"):
                np.testing.assert_array_equal(above, centre)
                continue
            np.testing.assert_allclose(above - centre, centre - below, atol=1e-6)
            self.assertFalse(np.array_equal(above, other))
        name = "policy/0/kernel"
        changes = [_weights(variant, name) - learner.network.weights[name] for variant in variants]
        self.assertAlmostEqual(float(np.std(changes)), 0.07, delta=0.01)

    def test_only_the_last_layers_change_when_asked(self):
        learner = _learner(last_layers=2)
        before = learner.network.weights
        synthetic.train(_ENVIRONMENT, learner, 1, 2)
        for name, value in learner.network.weights.items():
            trained = name in ("policy/1/kernel", "policy/1/bias", "policy/logits/kernel")
            self.assertEqual(np.array_equal(value, before[name]), not trained, name)
        self.assertEqual(trained_names(before, 1), ["policy/logits/kernel"])
        with self.assertRaisesRegex(ValueError, "last_layers=4 of a network with 3"):
            trained_names(before, 4)

    def test_a_step_goes_towards_the_better_candidates(self):
        for optimizer in ("adam", "plain"):
            learner = _learner(optimizer=optimizer, l2=0.0, learning_rate=1e-3)
            before, variants = learner.network.weights["policy/0/kernel"], learner.variants(0)
            better = _weights(variants[3], "policy/0/kernel") - before
            learner.update(0, [Sample("m", index, float(index == 3), 1.0) for index in range(6)])
            moved = learner.network.weights["policy/0/kernel"] - before
            self.assertGreater(np.sum(moved * better), 0, optimizer)

    def test_equal_candidates_move_nothing(self):
        learner = _learner(l2=0.0)
        before = digest_of(learner.network.weights)
        metrics = learner.update(0, [Sample("m", index, 0.25, 1.0) for index in range(6)])
        self.assertEqual(digest_of(learner.network.weights), before)
        self.assertEqual((metrics["improvement_deviation"], metrics["mean_improvement"]), (0, 0.25))

    def test_a_module_that_a_candidate_has_no_score_of_counts_nowhere(self):
        samples = [Sample("a", index, [0.1, -0.2][index], 3.0) for index in range(2)]
        samples += [Sample("b", 1, 0.9, 1.0)]
        samples += [Sample("c", index, [-7.0, 0.0][index], 1.0) for index in range(2)]
        fitness, modules = fitness_of(samples, 2, regression_penalty=0.0)
        np.testing.assert_allclose(fitness, [(0.3 - 7.0) / 4, -0.6 / 4])
        self.assertEqual(modules, 2)
        fitness, _ = fitness_of(samples, 2, regression_penalty=1.0)
        np.testing.assert_allclose(fitness, [(0.3 - 14.0) / 4, -1.2 / 4])
        with self.assertRaisesRegex(RunError, "none of 1 modules was scored under all") as caught:
            fitness_of(samples[2:3], 2, 0.0)
        self.assertEqual(caught.exception.exit_code, ExitCode.NOTHING_PRODUCED)

    def test_ranks(self):
        np.testing.assert_allclose(centred_ranks(np.array([5.0, -900.0, 7.0, 6.0, 1.0])), [0, -0.5, 0.5, 0.25, -0.25])
        np.testing.assert_allclose(centred_ranks(np.array([2.0, 1.0, 2.0])), [0.25, -0.5, 0.25])
        np.testing.assert_array_equal(centred_ranks(np.full(4, 3.0)), np.zeros(4))

    def test_equal_seeds_give_equal_bytes_and_resuming_equals_not_stopping(self):
        trained = check_repeatable(self, _learner, _ENVIRONMENT, 2)
        with self.assertRaisesRegex(ValueError, "evolution state has"):
            _learner(last_layers=1, state=trained.state())
