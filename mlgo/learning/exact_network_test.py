"""The exact network: no rounding in any order, close to the float network, refusal of exploded weights."""

import unittest

import numpy as np
import tensorflow as tf

from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import NetworkConfig, initial_network, row_logits
from mlgo.learning.observations import pack
from mlgo.learning.testing import synthetic, synthetic_environments
from mlgo.run.exit_codes import RunError


def _network(seed: int, scale: float = 1.0, normalizer=None):
    return synthetic.as_trained(initial_network(normalizer or synthetic.normalizer(), seed), seed, scale)


class ExactNetworkTest(unittest.TestCase):
    def setUp(self):
        values = synthetic.features(np.random.default_rng(0), 2000)
        self.packed = pack(values, synthetic.best(values), synthetic.normalizer(), synthetic.PROBLEM)

    def test_float32_equals_integers_in_any_order(self):
        network = exact_network(_network(1, scale=4).weights)
        inputs = self.packed.levels.astype(np.int64)
        shuffle = np.random.default_rng(1).permutation
        for layer in network.hidden:
            grid = 2.0**-40
            kernel, bias = (np.round(array / grid).astype(np.int64) for array in (layer.kernel, layer.bias))
            integers = inputs @ kernel + bias
            order = shuffle(inputs.shape[1])
            summed = np.zeros(integers.shape, np.float32)
            for column in order:  # One product at a time, in an order of its own, in float32.
                summed += inputs[:, column : column + 1].astype(np.float32) * layer.kernel[column]
            summed += layer.bias
            np.testing.assert_array_equal(summed.astype(np.float64), integers * grid)
            inputs = np.floor(np.clip(integers * grid, 0, 6) * 64).astype(np.int64)
        logits = (inputs @ network.logits.astype(np.float64))[:, 0]
        np.testing.assert_array_equal(network.row_logits(self.packed.levels), logits)

    def test_tensorflow_computes_the_same_bits(self):
        network, levels = exact_network(_network(2).weights), self.packed.levels
        np.testing.assert_array_equal(network.row_logits_tensor(levels).numpy(), network.row_logits(levels))

    def test_it_is_close_to_the_network_that_was_trained(self):
        network = _network(3)
        trained = row_logits(network.weights, self.packed.levels).numpy()
        shipped = exact_network(network.weights).row_logits(self.packed.levels)
        self.assertGreater(trained.std(), 0.05)
        np.testing.assert_allclose(shipped, trained, atol=0.02)

    def test_log_probabilities_are_those_of_softmax(self):
        network = exact_network(_network(4).weights)
        logits = network.row_logits(self.packed.levels)
        got = network.log_probabilities(self.packed)
        for n in (0, 1, 999):
            rows = slice(self.packed.offsets[n], self.packed.offsets[n + 1])
            expected = tf.nn.log_softmax(logits[rows]).numpy()[self.packed.chosen[n] - self.packed.offsets[n]]
            self.assertAlmostEqual(got[n], expected, places=5)

    def test_yes_and_no(self):
        environment = synthetic_environments.BinaryEnvironment()
        packed = synthetic_environments.play(environment, range(3), environment.default).observations
        network = exact_network(_network(4, normalizer=environment.normalizer).weights)
        z = network.row_logits(packed.levels)
        self.assertTrue((z > 0).any() and (z < 0).any())
        np.testing.assert_array_equal(network.decisions(packed), z > 0)
        chance = 1 / (1 + np.exp(-z.astype(np.float64)))
        expected = np.log(np.where(packed.actions == 1, chance, 1 - chance))
        np.testing.assert_allclose(network.log_probabilities(packed), expected, rtol=1e-6)

    def test_numbers_stay_within_their_bounds(self):
        environment = synthetic_environments.ContinuousEnvironment()
        packed = synthetic_environments.play(environment, range(3), environment.default).observations
        network = exact_network(_network(4, scale=8, normalizer=environment.normalizer).weights)
        z = network.row_logits(packed.levels)
        np.testing.assert_array_equal(network.decisions(packed), np.clip(z, 0, 15))
        with self.assertRaisesRegex(ValueError, "no probability without the deviation"):
            network.log_probabilities(packed)

    def test_ties_go_to_the_lowest_position(self):
        network = exact_network({**_network(5).weights, "policy/logits/kernel": np.zeros((40, 1), np.float32)})
        np.testing.assert_array_equal(network.decisions(self.packed), self.packed.positions[self.packed.offsets[:-1]])

    def test_exploded_or_broken_weights_are_refused(self):
        weights = dict(_network(6).weights)
        weights["policy/1/kernel"] = weights["policy/1/kernel"] * np.float32(1e6)
        with self.assertRaisesRegex(RunError, "policy/1: are too large to compute with exactly"):
            exact_network(weights)
        weights["policy/1/kernel"][0, 0] = np.nan
        with self.assertRaisesRegex(RunError, "policy/1: hold NaN or infinity"):
            exact_network(weights)


class InitialNetworkTest(unittest.TestCase):
    def test_a_seed_decides_all_weights(self):
        first, again, other = (initial_network(synthetic.normalizer(), seed).weights for seed in (1, 1, 2))
        for name, value in first.items():
            np.testing.assert_array_equal(value, again[name])
        self.assertFalse(np.array_equal(first["policy/0/kernel"], other["policy/0/kernel"]))

    def test_sizes_follow_the_configuration(self):
        weights = initial_network(synthetic.normalizer(), 1, NetworkConfig((7,), (3, 2))).weights
        self.assertEqual(weights["policy/0/kernel"].shape, (synthetic.normalizer().width, 7))
        self.assertEqual(weights["value/1/kernel"].shape, (3, 2))
        with self.assertRaisesRegex(ValueError, "NetworkConfig.fc_layer_params"):
            NetworkConfig(())
