"""The eviction network of the papers: one small scorer shared by all candidates, and a value network beside it.

A row of D levels goes through fully connected layers of 80 and 40 units to one logit; softmax over the legal candidates
of an observation is the policy (arXiv:2101.04808 section 5 and its follow-up; ml-compiler-opt,
compiler_opt/rl/regalloc/gin_configs/network.gin: fc_layer_params=(80, 40), relu). Illegal candidates have no row.
Features of the whole observation (eviction: `progress`) are columns of every row.

A policy explores as distribution.py says, more or less by its weights: logits divided by a temperature, and the noise's
deviation as one more array, which only the exploring model looks at (mlgo/policy/tflite.py).

Two departures from the papers. The activation is relu6 instead of relu, so that hidden values have a bound and the
shipped copy of the network can compute without any rounding (exact_network.py). The value network sees the mean
of each column over the candidates; ml-compiler-opt's has the constant value 0 (constant_value_network.py).
"""

import dataclasses
from collections.abc import Mapping, Sequence

import gin
import numpy as np

from mlgo.learning.normalization import DEFAULT_SEGMENTS, LEVEL_SCALE, MAX_SEGMENTS, Normalizer
from mlgo.run.determinism import generator

#: Weights by name: "policy/0/kernel" [D, 80], "policy/0/bias" [80], ..., "policy/logits/kernel" [40, 1]. A bias of the
#: logits would cancel in the softmax, so there is none.
Weights = Mapping[str, np.ndarray]

#: Most products that TensorFlow adds in one sum. Eigen cuts a longer sum at a place that depends on the size of the
#: level 1 data cache. Measured with TensorFlow 2.19: from 609 products with 48 KiB, 401 with 32 KiB, and 201 with
#: 16 KiB, the least of all processors with AVX.
MAX_REDUCTION_LENGTH = 128

_LOGITS = "policy/logits/kernel"
_DEVIATION = "exploration/deviation"

#: Standard deviation of the noise of numbers, in units of the network's output, where the weights name none. Ours:
#: clones answer between 1 and 7 (behavioural_cloning.py), so two decisions swap when they are within a few percent of
#: each other's rank.
DEFAULT_DEVIATION = 0.25


@gin.configurable
@dataclasses.dataclass(frozen=True)
class NetworkConfig:
    """Sizes of the two networks."""

    #: units of the policy's hidden layers. Default: ml-compiler-opt, regalloc/gin_configs/network.gin.
    fc_layer_params: tuple[int, ...] = (80, 40)
    #: units of the value network's hidden layers. Default ours: the second layer of the policy's; it has 6.7 times
    #: fewer rows to learn from.
    value_fc_layer_params: tuple[int, ...] = (40,)
    #: variance scaling of the logits' kernel. Default: 0.1, ml-compiler-opt, regalloc_network.py
    #: (`logits_init_output_factor`): an untrained policy is nearly uniform.
    logits_init_factor: float = 0.1
    segments: int = DEFAULT_SEGMENTS  #: into how many pieces the range of a feature is cut (normalization.py).
    #: feature -> the values at which it is cut instead, in increasing order; then features that are not named are not
    #: looked at. For policies with few weights, whose pieces must be few and of about equal importance.
    knots: Mapping[str, Sequence[float]] = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        for name in ("fc_layer_params", "value_fc_layer_params"):
            sizes = tuple(int(size) for size in getattr(self, name))
            object.__setattr__(self, name, sizes)
            if not sizes or any(not 1 <= size <= 4096 for size in sizes):
                raise ValueError(f"NetworkConfig.{name}={sizes}: give one to some layer sizes in 1..4096")
        object.__setattr__(self, "knots", {str(name): tuple(map(float, cuts)) for name, cuts in self.knots.items()})
        if not 1 <= self.segments <= MAX_SEGMENTS:
            raise ValueError(f"NetworkConfig.segments={self.segments} must lie in 1..{MAX_SEGMENTS}")


@dataclasses.dataclass(frozen=True)
class PolicyNetwork:
    """A normaliser and the weights that fit it; everything a policy is made of."""

    normalizer: Normalizer
    weights: Weights

    def __post_init__(self):
        width = layer_arrays(self.weights, "policy")[0][0].shape[0]
        if width != self.normalizer.width:
            raise ValueError(
                f"weights expect {width} columns, the normaliser makes {self.normalizer.width}; "
                "they come from different vocabularies"
            )

    def with_weights(self, weights: Weights) -> "PolicyNetwork":
        return PolicyNetwork(self.normalizer, weights)


@dataclasses.dataclass(frozen=True)
class ConvertedPolicy:
    """A policy of another trainer, which can decide but has no weights of our network."""

    model: bytes  #: the policy as TFLite model for LLVM's development mode; greedy.


#: What the compiler can be given as a policy.
AnyPolicy = PolicyNetwork | ConvertedPolicy


def exploring_network(
    network: PolicyNetwork, temperature: float = 1.0, deviation: float | None = None
) -> PolicyNetwork:
    """The network to write for the compiler in order to explore with `network`. Args: temperature: decisions are drawn
    from softmax(z / temperature) or sigmoid(z / temperature), > 0; deviation: of the noise of numbers.
    """
    weights = dict(network.weights)
    if temperature != 1.0:
        weights[_LOGITS] = (weights[_LOGITS] / np.float32(temperature)).astype(np.float32)
    if deviation is not None:
        weights[_DEVIATION] = np.array([deviation], np.float32)
    return network if temperature == 1.0 and deviation is None else network.with_weights(weights)


def deviation_of(network: PolicyNetwork) -> float:
    return float(network.weights.get(_DEVIATION, [DEFAULT_DEVIATION])[0])


def initial_network(normalizer: Normalizer, seed: int, config: NetworkConfig | None = None) -> PolicyNetwork:
    """A network with fresh weights: a pure function of the arguments."""
    config = config or NetworkConfig()
    weights: dict[str, np.ndarray] = {}
    for scope, sizes in (("policy", config.fc_layer_params), ("value", config.value_fc_layer_params)):
        fan_in = normalizer.width
        for index, units in enumerate(sizes):
            random = generator(seed, "initial weights", scope, index)
            limit = np.sqrt(6.0 / (fan_in + units))  # Glorot uniform, as ml-compiler-opt's encoder.
            weights[f"{scope}/{index}/kernel"] = random.uniform(-limit, limit, (fan_in, units)).astype(np.float32)
            weights[f"{scope}/{index}/bias"] = np.zeros(units, np.float32)
            fan_in = units
        random = generator(seed, "initial weights", scope, "output")
        if scope == "policy":
            deviation = np.sqrt(config.logits_init_factor / fan_in)
            weights[_LOGITS] = (random.standard_normal((fan_in, 1)) * deviation).astype(np.float32)
        else:
            weights["value/output/kernel"] = np.zeros((fan_in, 1), np.float32)
            weights["value/output/bias"] = np.zeros(1, np.float32)
    return PolicyNetwork(normalizer, weights)


def layer_arrays(weights: Weights, scope: str) -> list[tuple]:
    """The hidden layers' (kernel, bias) of "policy" or "value", first layer first."""
    layers: list[tuple] = []
    while f"{scope}/{len(layers)}/kernel" in weights:
        prefix = f"{scope}/{len(layers)}"
        layers.append((weights[f"{prefix}/kernel"], weights[f"{prefix}/bias"]))
    if not layers:
        raise ValueError(f"no layer {scope}/0/kernel among the weights {sorted(weights)}")
    return layers


def row_logits(weights: Mapping, levels):
    """TensorFlow: logits of rows, float32 [M], from uint8 [M, D]; `weights` holds variables or tensors."""
    import tensorflow as tf  # pylint: disable=import-outside-toplevel  # Initialising weights needs none.

    hidden = _grouped(tf.cast(levels, tf.float32)) * LEVEL_SCALE
    for kernel, bias in layer_arrays(weights, "policy"):
        hidden = tf.nn.relu6(tf.nn.bias_add(_product(hidden, kernel), bias))
    return tf.reshape(_product(hidden, weights[_LOGITS]), [-1])[: tf.shape(levels)[0]]


def values(weights: Mapping, summaries):
    """TensorFlow: value estimates, float32 [B], from summaries float32 [B, D] (in levels)."""
    import tensorflow as tf  # pylint: disable=import-outside-toplevel

    hidden = _grouped(summaries) * LEVEL_SCALE
    for kernel, bias in layer_arrays(weights, "value"):
        hidden = tf.nn.relu(tf.nn.bias_add(_product(hidden, kernel), bias))
    of_row = tf.reshape(_product(hidden, weights["value/output/kernel"]), [-1])[: tf.shape(summaries)[0]]
    return of_row + weights["value/output/bias"][0]


def _grouped(rows):
    """float32 [G, MAX_REDUCTION_LENGTH, D] of [M, D]; the last group is filled with zeros."""
    import tensorflow as tf  # pylint: disable=import-outside-toplevel

    filled = tf.pad(rows, [[0, -tf.shape(rows)[0] % MAX_REDUCTION_LENGTH], [0, 0]])
    return tf.reshape(filled, [-1, MAX_REDUCTION_LENGTH, rows.shape[1]])


def _product(groups, kernel):
    """float32 [G, MAX_REDUCTION_LENGTH, units]: `groups` times `kernel`, [in, units].

    Both sides of `kernel` are cut, because the gradient of `groups` sums over the units.
    """
    import tensorflow as tf  # pylint: disable=import-outside-toplevel

    def cuts(size):
        return [slice(begin, begin + MAX_REDUCTION_LENGTH) for begin in range(0, size, MAX_REDUCTION_LENGTH)]

    columns = [
        tf.add_n([tf.matmul(groups[:, :, part], kernel[part, units]) for part in cuts(kernel.shape[0])])
        for units in cuts(kernel.shape[1])
    ]
    return tf.concat(columns, axis=2)
