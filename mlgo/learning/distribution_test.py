"""Distributions of decisions: probabilities add up to 1 and are those of the policy that is drawn from."""

import unittest

import numpy as np
import tensorflow as tf

from mlgo.learning.distribution import CutOffNormal, RowDistribution, decision_distribution
from mlgo.learning.network import DEFAULT_DEVIATION, deviation_of, exploring_network, initial_network
from mlgo.learning.testing.synthetic_environments import BinaryEnvironment, ContinuousEnvironment
from mlgo.run import determinism

setUpModule = determinism.configure_tensorflow


class DistributionTest(unittest.TestCase):
    def test_rows_have_the_softmax_of_their_observation(self):
        logits = tf.constant([0.5, -1.0, 2.0, 0.0, 3.0])
        rows = RowDistribution(logits, tf.constant([0, 0, 0, 1, 1]), tf.constant(2))
        expected = np.concatenate([tf.nn.log_softmax(logits[:3]), tf.nn.log_softmax(logits[3:])])
        np.testing.assert_allclose(rows.log_prob(tf.constant([1, 4])), expected[[1, 4]], rtol=1e-6)
        np.testing.assert_allclose(rows.entropy()[1], -np.sum(np.exp(expected[3:]) * expected[3:]), rtol=1e-6)
        np.testing.assert_allclose(rows.row_probabilities(), np.exp(expected), rtol=1e-6)
        np.testing.assert_allclose(rows.mean_log_prob(), [expected[:3].mean(), expected[3:].mean()], rtol=1e-6)

    def test_yes_has_the_sigmoid(self):
        logits = tf.constant([0.0, 2.0, -30.0])
        drawn = decision_distribution("binary", logits, tf.range(3), tf.constant(3), 1.0, None)
        probabilities = 1 / (1 + np.exp([0.0, -2.0, 30.0]))
        np.testing.assert_allclose(drawn.log_prob(tf.ones(3)), np.log(probabilities), rtol=1e-6)
        np.testing.assert_allclose(drawn.log_prob(tf.zeros(3)), np.log1p(-probabilities), rtol=1e-5)

    def test_a_cut_off_normal_is_a_distribution(self):
        for mean in (-1.0, 0.2, 1.5, 9.0):
            inside = np.linspace(0, 2, 20001)[1:-1].astype(np.float32)
            normal = CutOffNormal(tf.constant(mean), 0.5, 2.0)
            density = np.exp(normal.log_prob(inside).numpy().astype(np.float64)).sum() * 1e-4
            ends = np.exp(normal.log_prob(tf.constant([0.0, 2.0])).numpy())
            self.assertAlmostEqual(density + ends.sum(), 1.0, places=3)
            draws = np.clip(np.random.default_rng(1).normal(mean, 0.5, 100_000), 0, 2)
            np.testing.assert_allclose(ends, [np.mean(draws == 0), np.mean(draws == 2)], atol=0.01)

    def test_gradients_are_finite_far_from_the_answer(self):
        mean = tf.Variable([-40.0, 40.0, 40.0, 3.0])
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(CutOffNormal(mean, 0.25, 15.0).log_prob(tf.constant([15.0, 0.0, 3.0, 3.0])))
        self.assertTrue(np.isfinite(tape.gradient(total, mean)).all())


class ExplorationTest(unittest.TestCase):
    def test_a_temperature_divides_logits_and_nothing_is_copied_without(self):
        network = initial_network(BinaryEnvironment.normalizer, 1)
        self.assertIs(exploring_network(network), network)
        warm = exploring_network(network, temperature=4.0)
        np.testing.assert_array_equal(warm.weights["policy/logits/kernel"] * 4, network.weights["policy/logits/kernel"])
        np.testing.assert_array_equal(warm.weights["policy/0/kernel"], network.weights["policy/0/kernel"])

    def test_the_deviation_travels_with_the_weights(self):
        network = initial_network(ContinuousEnvironment.normalizer, 1)
        self.assertEqual(deviation_of(network), DEFAULT_DEVIATION)
        self.assertEqual(deviation_of(exploring_network(network, deviation=0.5)), 0.5)
