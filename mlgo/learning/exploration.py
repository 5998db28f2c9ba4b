"""Temperature and noise of an exploring policy, stored in its weights.

Decisions are drawn from softmax(z), sigmoid(z), or, if continuous, z plus noise (distribution.py). Straying
more or less is therefore a matter of weights: logits divided by a temperature, and the noise's deviation as one more
array, which only the exploring model looks at (mlgo/policy/tflite.py).
"""

import numpy as np

from mlgo.learning.network import PolicyNetwork

_LOGITS = "policy/logits/kernel"
_DEVIATION = "exploration/deviation"

#: Standard deviation of the noise of numbers, in units of the network's output, where the weights name none. Ours:
#: clones answer between 1 and 7 (order.py), so two decisions swap when they are within a few percent of each other's
#: rank.
DEFAULT_DEVIATION = 0.25


def exploring_network(
    network: PolicyNetwork, temperature: float = 1.0, deviation: float | None = None
) -> PolicyNetwork:
    """The network to write for the compiler in order to explore with `network`.

    Args:
      temperature: decisions are drawn from softmax(z / temperature) or sigmoid(z / temperature); > 0.
      deviation: of the noise of numbers.
    """
    weights = dict(network.weights)
    if temperature != 1.0:
        weights[_LOGITS] = (weights[_LOGITS] / np.float32(temperature)).astype(np.float32)
    if deviation is not None:
        weights[_DEVIATION] = np.array([deviation], np.float32)
    return network if temperature == 1.0 and deviation is None else network.with_weights(weights)


def deviation_of(network: PolicyNetwork) -> float:
    return float(network.weights.get(_DEVIATION, [DEFAULT_DEVIATION])[0])
