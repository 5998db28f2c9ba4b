"""The policy on a binary grid, where float32 arithmetic never rounds. This form is shipped, sampled from and evaluated.

TensorFlow, TensorFlow Lite and XLA add the products of a layer in different orders, with or without fused multiply-add.
Here every input of a layer is a whole number, every weight a multiple of a power of two, and the grid is so coarse that
every partial sum in every order has at most 24 bits: all are exact, and so is the decision (ties go to the lowest
position).

    inputs of layer i:  n_i in {0 .. top_i};  n_0 = levels (top 192), n_i = floor(relu6(z_i + 2^-7) * 64) (top 384)
    z_i+1 = n_i @ kernel_i + bias_i;  kernel_i = unit_i * round(2^bits * weights),  bias_i on the same grid
    condition, for every output j:  top_i * sum |kernel_ij| + |bias_j|  <  2^24 * (grid of kernel_i)

Rounding the weights to `bits` (at most 12) binary places and hidden values to 6 costs little: for an eviction policy
trained on 86 modules, on 5,758 real observations, logits changed by 0.01 on average, log probabilities of decisions by
0.007 (standard deviation), and 0.4 % of the greedy decisions.
"""

import dataclasses
import typing

import numpy as np

from mlgo.learning.network import Weights, layer_arrays
from mlgo.learning.normalization import LEVEL_SCALE, TOP_LEVEL
from mlgo.learning.observations import Observations
from mlgo.run.exit_codes import RunError

#: Hidden values are whole multiples of 1/64 in [0, 6].
HIDDEN_PER_UNIT = 64.0
_HIDDEN_TOP = 384
#: Added before floor, which then rounds to nearest; part of the bias, so it costs nothing.
_ROUNDING_BIAS = 2.0**-7
#: Integers of float32 are exact up to this.
_MANTISSA = 2**24
_MOST_BITS = 12
_FEWEST_BITS = 3

#: Observations decided at a time: their levels as float32 take four times the memory of the levels.
_DECIDED_TOGETHER = 16_384


class ExactLayer(typing.NamedTuple):
    """`kernel` float32 [in, out] and `bias` float32 [out], for whole-number inputs; `bits` binary places were kept."""

    kernel: np.ndarray
    bias: np.ndarray
    bits: int = 0


@dataclasses.dataclass(frozen=True)
class ExactNetwork:
    """`hidden` layers, each followed by floor(relu6(z) * HIDDEN_PER_UNIT), and `logits` float32 [units, 1]."""

    hidden: tuple[ExactLayer, ...]
    logits: np.ndarray

    def row_logits(self, levels: np.ndarray) -> np.ndarray:
        """NumPy: logits, float32 [M], of uint8 [M, D]; bit for bit what every backend computes."""
        inputs = levels.astype(np.float32)
        for layer in self.hidden:
            activation = np.clip(inputs @ layer.kernel + layer.bias, np.float32(0), np.float32(6))
            inputs = np.floor(activation * np.float32(HIDDEN_PER_UNIT))
        return (inputs @ self.logits)[:, 0]

    def row_logits_tensor(self, levels):
        """TensorFlow: the same as `row_logits`, three times as fast."""
        import tensorflow as tf  # pylint: disable=import-outside-toplevel

        inputs = tf.cast(levels, tf.float32)
        for layer in self.hidden:
            activation = tf.nn.relu6(tf.nn.bias_add(tf.matmul(inputs, layer.kernel), layer.bias))
            inputs = tf.floor(activation * HIDDEN_PER_UNIT)
        return tf.squeeze(tf.matmul(inputs, self.logits), axis=1)

    def log_probabilities(self, observations: Observations) -> np.ndarray:
        return log_probabilities(self.row_logits(observations.levels), observations)

    def decisions(self, observations: Observations) -> np.ndarray:
        parts = observations.parts(_DECIDED_TOGETHER)
        return np.concatenate([greedy_decisions(self.row_logits(part.levels), part) for part in parts])


def log_probabilities(logits: np.ndarray, observations: Observations) -> np.ndarray:
    """float32 [N]: log probability of each decision under softmax(logits) or sigmoid(z), the policy that is drawn from.

    Args: logits: float32 [M], of the observations' rows.
    Raises: ValueError: the decisions are numbers.
    """
    logits = logits.astype(np.float64)
    if observations.kind == "continuous":
        raise ValueError("numbers have no probability without the deviation of their noise (distribution.py)")
    if observations.kind == "binary":
        return -np.logaddexp(0.0, np.where(observations.numbers > 0, -logits, logits)).astype(np.float32)
    starts = observations.offsets[:-1]
    counts = np.diff(observations.offsets)
    shifted = logits - np.repeat(np.maximum.reduceat(logits, starts), counts)
    normaliser = np.log(np.add.reduceat(np.exp(shifted), starts))
    return (shifted[observations.chosen] - normaliser).astype(np.float32)


def greedy_decisions(logits: np.ndarray, observations: Observations) -> np.ndarray:
    """[N]: the greedy decisions, as `Observations.actions`, by logits float32 [M]; ties go to the lowest position."""
    if observations.kind == "binary":
        return (logits > 0).astype(np.int64)
    if observations.kind == "continuous":
        return np.where(logits > 0, np.minimum(logits, np.float32(observations.max_output)), np.float32(0))
    starts = observations.offsets[:-1]
    best = np.repeat(np.maximum.reduceat(logits, starts), np.diff(observations.offsets))
    candidate = np.where(logits == best, observations.positions, observations.position_count)
    return np.minimum.reduceat(candidate, starts).astype(np.int64)


def exact_network(weights: Weights) -> ExactNetwork:
    """The policy part of `weights` on the grid. Raises: RunError: a weight is not finite, or too large for it."""
    hidden = []
    unit, top = LEVEL_SCALE, TOP_LEVEL
    for index, (kernel, bias) in enumerate(layer_arrays(weights, "policy")):
        hidden.append(_exact_layer(f"policy/{index}", kernel, np.asarray(bias, np.float64) + _ROUNDING_BIAS, unit, top))
        unit, top = 1.0 / HIDDEN_PER_UNIT, _HIDDEN_TOP
    logits = _exact_layer("policy/logits", weights["policy/logits/kernel"], np.zeros(1), unit, top)
    return ExactNetwork(tuple(hidden), logits[0])


def _exact_layer(name: str, kernel: np.ndarray, bias: np.ndarray, unit: float, top: int) -> ExactLayer:
    kernel = np.asarray(kernel, np.float64)
    if not (np.isfinite(kernel).all() and np.isfinite(bias).all()):
        raise RunError(f"weights {name}", "hold NaN or infinity", "Resume from the checkpoint before they diverged")
    for bits in range(_MOST_BITS, _FEWEST_BITS - 1, -1):
        steps = np.round(kernel * 2.0**bits)
        bias_steps = np.round(bias * 2.0**bits / unit)
        if (top * np.abs(steps).sum(axis=0) + np.abs(bias_steps)).max() < _MANTISSA:
            grid = unit * 2.0**-bits
            return ExactLayer((steps * grid).astype(np.float32), (bias_steps * grid).astype(np.float32), bits)
    wrong = f"are too large to compute with exactly (largest column sum {np.abs(kernel).sum(axis=0).max():.3g})"
    remedy = "Train with a smaller learning rate or more weight decay (l2 in the gin file)"
    raise RunError(f"weights {name}", wrong, remedy)
