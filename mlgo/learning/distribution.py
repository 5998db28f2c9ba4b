"""The distribution of decisions, given the logits z of all rows, for each kind of decision.

categorical  softmax of z over the rows of an observation
binary       P(1) = sigmoid(z)
continuous   z plus Gaussian noise, then cut off at 0 and at the highest answer

Logarithms are computed in float64: the gradient of a float32 logarithm is TensorFlow's Reciprocal, which differs
between processors (optimizer.py, APPROXIMATE).
"""

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from mlgo.learning.observations import DecisionKind


def decision_distribution(
    kind: DecisionKind,
    logits: tf.Tensor,
    row_observation: tf.Tensor,
    batch: tf.Tensor,
    deviation: float,
    highest: float | None,
) -> tfp.distributions.Distribution:
    """The distribution of B decisions; its values are `Observations.chosen_values`. Args: logits: float32 [M];
    row_observation: int32 [M], sorted, in 0 .. B - 1; deviation, highest: of the noise and of the answers of continuous
    decisions.
    """
    if kind == "categorical":
        return RowDistribution(logits, row_observation, batch)
    if kind == "binary":
        return tfp.distributions.Bernoulli(logits=logits, dtype=tf.float32)
    assert highest is not None  # Of a continuous decision.
    return CutOffNormal(logits, deviation, highest)


class _ScalarDistribution(tfp.distributions.Distribution):
    """B distributions of single values. Args: batch: B, a tensor."""

    def __init__(self, dtype: tf.DType, batch: tf.Tensor):
        super().__init__(dtype, tfp.distributions.NOT_REPARAMETERIZED, False, True, name=type(self).__name__)
        self._batch = batch

    def _batch_shape(self):
        return tf.TensorShape([None])

    def _batch_shape_tensor(self):
        return tf.stack([self._batch])

    def _event_shape(self):
        return tf.TensorShape([])

    def _event_shape_tensor(self):
        return tf.constant([], tf.int32)


class RowDistribution(_ScalarDistribution):
    """B categorical distributions over rows: softmax of the logits of each observation's rows.

    A value of this distribution is int32 [B]: an index into the M rows, one of the observation's own.
    """

    def __init__(self, logits: tf.Tensor, row_observation: tf.Tensor, batch: tf.Tensor):
        super().__init__(tf.int32, batch)
        self._observation = row_observation
        highest = tf.math.unsorted_segment_max(tf.stop_gradient(logits), row_observation, batch)
        shifted = logits - tf.gather(highest, row_observation)
        total = tf.math.unsorted_segment_sum(tf.exp(shifted), row_observation, batch)
        log_total = tf.cast(tf.math.log(tf.cast(total, tf.float64)), tf.float32)
        self._row_log_probability = shifted - tf.gather(log_total, row_observation)

    def _log_prob(self, value):
        return tf.gather(self._row_log_probability, value)

    def row_probabilities(self) -> tf.Tensor:
        """float32 [M]: of each row within its observation."""
        return tf.exp(self._row_log_probability)

    def mean_log_prob(self) -> tf.Tensor:
        """float32 [B]: mean of the log probabilities of an observation's rows."""
        return tf.math.unsorted_segment_mean(self._row_log_probability, self._observation, self._batch)

    def _entropy(self):
        each = tf.exp(self._row_log_probability) * self._row_log_probability
        return -tf.math.unsorted_segment_sum(each, self._observation, self._batch)


class CutOffNormal(_ScalarDistribution):
    """B normal numbers, of which those below 0 are taken as 0 and those above `highest` as `highest` (Tobin, 1958).

    At the two ends log_prob is that of all numbers beyond, elsewhere it is the density. The entropy is that before the
    cut: the noise is given, so it is a constant.
    """

    def __init__(self, mean: tf.Tensor, deviation: float, highest: float):
        super().__init__(tf.float32, tf.size(mean))
        self._normal = tfp.distributions.Normal(tf.cast(mean, tf.float64), np.float64(np.float32(deviation)))
        self._highest = np.float64(np.float32(highest))

    def _log_prob(self, value):
        value = tf.cast(value, tf.float64)
        above = self._normal.log_survival_function(self._highest)
        inside = tf.where(value >= self._highest, above, self._normal.log_prob(value))
        return tf.cast(tf.where(value <= 0, self._normal.log_cdf(tf.zeros_like(value)), inside), tf.float32)

    def _entropy(self):
        return tf.cast(self._normal.entropy(), tf.float32)
