"""Adam: the published recurrence, clipping, and refusals. Learners' tests show that they go on from its state."""

import unittest

import numpy as np
import tensorflow as tf

from mlgo.learning.optimizer import BETA1, BETA2, Adam, weight_decay

_RATE, _EPSILON = 0.1, 1e-5
_WEIGHTS = {"a": np.array([1.0, -2.0], np.float32), "b": np.array([[0.5]], np.float32)}


def _stepped(adam: Adam, steps: int, clipping: float | None = None) -> list[float]:
    """Steps along the gradient of the sum of squares, 2 w; returns the norms."""
    norms = []
    for _ in range(steps):
        powers = adam.next_powers()
        with tf.GradientTape() as tape:
            loss = tf.add_n([tf.reduce_sum(tf.square(variable)) for variable in adam.variables.values()])
        norms.append(float(adam.minimize(tape, loss, _RATE, *powers, clipping=clipping)))
    return norms


class AdamTest(unittest.TestCase):
    def test_the_recurrence_of_kingma_and_ba(self):
        """Their algorithm 1 with the order of the epsilon that TensorFlow documents ("epsilon hat")."""
        adam, w = Adam(_WEIGHTS, _EPSILON), _WEIGHTS["a"].astype(np.float64)
        _stepped(adam, 5)
        first, second = np.zeros(2), np.zeros(2)
        for step in range(1, 6):
            gradient = 2 * w
            first = BETA1 * first + (1 - BETA1) * gradient
            second = BETA2 * second + (1 - BETA2) * gradient**2
            rate = _RATE * np.sqrt(1 - BETA2**step) / (1 - BETA1**step)
            w = w - rate * first / (np.sqrt(second) + _EPSILON)
        np.testing.assert_allclose(adam.weights()["a"], w, rtol=1e-5)
        self.assertEqual(adam.step, 5)

    def test_the_state_of_other_weights_is_refused(self):
        state = Adam(_WEIGHTS, _EPSILON).state()
        with self.assertRaisesRegex(ValueError, r"optimiser state has .*'m/b'.*, expected \['m/a', 'step', 'v/a'\]"):
            Adam({"a": _WEIGHTS["a"]}, _EPSILON, state)

    def test_the_norm_is_that_before_clipping_and_zero_gradients_stay(self):
        norm = 2 * float(np.sqrt(1 + 4 + 0.25))
        for clipping in (None, 0.5):
            self.assertAlmostEqual(_stepped(Adam(_WEIGHTS, _EPSILON), 1, clipping)[0], norm, places=5)
        adam = Adam(_WEIGHTS, _EPSILON)
        _stepped(adam, 1, clipping=0.5)
        np.testing.assert_allclose(adam.state()["m/a"], (1 - BETA1) * 2 * _WEIGHTS["a"] * 0.5 / norm, rtol=1e-5)

    def test_only_kernels_of_the_policy_decay(self):
        weights = {"policy/0/kernel": [3.0], "policy/0/bias": [5.0], "value/0/kernel": [7.0]}
        variables = {name: tf.Variable(values) for name, values in weights.items()}
        self.assertEqual(float(weight_decay(variables, 0.5)), 0.5 * 9.0 / 2)
