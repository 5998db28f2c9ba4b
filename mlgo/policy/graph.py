"""The policy as a TensorFlow graph: features in, decision out, no step of which depends on the runtime's rounding.

Normalisation: see mlgo/learning/normalization.py. Layers: see mlgo/learning/exact_network.py; their one output per row
is z. The decision:

    categorical  the lowest position among those with the highest z, computed explicitly (ArgMax leaves ties open).
                 Masked positions are replaced after the last layer, so their values, NaN included, do not reach the
                 decision.
    binary       one row; 1 if z > 0 else 0, which is the likelier of the logits (0, z); a tie is 0
    continuous   one row; min(z, max_output) * output_unit if z > 0 else 0 (never -0)

reference.py does the same in NumPy, bit for bit.
"""

import dataclasses

import numpy as np
import tensorflow as tf

from mlgo.learning.exact_network import HIDDEN_PER_UNIT, ExactNetwork
from mlgo.learning.network import DEFAULT_DEVIATION
from mlgo.learning.normalization import LEVELS_PER_UNIT, TOP_LEVEL, Normalizer
from mlgo.policy.checks import known_features, normalizer_fault
from mlgo.problems.ir2vec import element_names
from mlgo.problems.problem import Problem
from mlgo.run.exit_codes import RunError

#: Below every logit: |logit| < 2^24 on its grid.
_ILLEGAL = np.float32(-1e30)
#: TensorFlow's uniform numbers are multiples of 2^-23 in [0, 1); half a step more and they are never 0, exactly.
_HALF_STEP = np.float32(2.0**-24)


@dataclasses.dataclass(frozen=True)
class PolicyGraph:
    """A graph and the names of its inputs and outputs."""

    graph: tf.Graph
    #: feature name -> placeholder, all observations that the policy knows, in the problem's order.
    inputs: dict[str, tf.Tensor]
    output: tf.Tensor  #: the decision, with the dtype and shape of the problem's action_spec.


@dataclasses.dataclass(frozen=True)
class Exploration:
    """How decisions are drawn instead of being greedy."""

    #: of TensorFlow's Philox generator, which TensorFlow Lite continues from decision to decision.
    seeds: tuple[int, int]
    #: standard deviation of the noise that is added to z where a number is decided; other kinds ignore it.
    deviation: float = DEFAULT_DEVIATION


def build_graph(
    problem: Problem, normalizer: Normalizer, network: ExactNetwork, exploration: Exploration | None = None
) -> PolicyGraph:
    """The greedy policy, or with `exploration` the one that draws from softmax(logits).

    Drawing is argmax(logits + Gumbel noise), or of two logits (0, z) the same as z + logistic noise > 0; the noise is
    made from uniform numbers. A number is z plus Gaussian noise, then bounded like a greedy one: the log shows what was
    added up, so its probability can be computed afterwards (mlgo/learning/distribution.py).

    Placeholders are named as LLVM's model inputs (`problem.model_input_prefix` + feature).

    Raises: RunError: the normaliser does not fit the problem.
    """
    if clause := normalizer_fault(normalizer, problem):
        raise RunError(f"the policy for {problem.name}", clause, "Make it from a vocabulary of this problem")
    graph = tf.Graph()
    with graph.as_default():
        inputs = {
            name: tf.compat.v1.placeholder(spec.dtype, spec.shape, name=problem.model_input_prefix + name)
            for name in known_features(normalizer, problem)
            for spec in [problem.observation_spec(name)]
        }
        decide = {"categorical": _choice, "binary": _binary, "continuous": _number}[problem.decision_kind]
        output = decide(problem, inputs, normalizer, network, exploration)
    return PolicyGraph(graph, inputs, output)


def _choice(problem, inputs, normalizer, network, exploration) -> tf.Tensor:
    mask = tf.reshape(inputs[problem.mask_feature], [1, -1])
    positions = mask.shape[1]
    logits = tf.reshape(_row_logits(_levels(inputs, normalizer, positions), network), [1, positions])
    if exploration is not None:
        logits = logits - tf.math.log(-tf.math.log(_uniform(exploration.seeds, [1, positions])))
    logits = tf.where(mask > 0, logits, _ILLEGAL)
    best = tf.reduce_max(logits, axis=1, keepdims=True)
    numbers = np.arange(positions, dtype=np.float32)[None]
    lowest = tf.reduce_min(tf.where(logits >= best, numbers, np.float32(positions)), axis=1)
    return tf.cast(lowest, tf.int64, name=problem.action_spec.name)


def _binary(problem, inputs, normalizer, network, exploration) -> tf.Tensor:
    z = _single_logit(problem, inputs, normalizer, network)
    if exploration is not None:
        uniform = _uniform(exploration.seeds, problem.action_spec.shape)
        z = z + (tf.math.log(uniform) - tf.math.log(np.float32(1) - uniform))
    return tf.cast(z > np.float32(0), tf.int64, name=problem.action_spec.name)


def _number(problem, inputs, normalizer, network, exploration) -> tf.Tensor:
    z = _single_logit(problem, inputs, normalizer, network)
    if exploration is not None:
        z = z + _normal(exploration.seeds, problem.action_spec.shape) * np.float32(exploration.deviation)
    number = tf.minimum(z, np.float32(problem.max_output)) * np.float32(problem.output_unit)
    # A choice, not a maximum: a sum of products that are all -0 is -0 in some runtimes and 0 in others.
    return tf.where(z > np.float32(0), number, np.float32(0), name=problem.action_spec.name)


def _single_logit(problem, inputs, normalizer, network) -> tf.Tensor:
    """float32, shape of the action: z of the only row."""
    return tf.reshape(_row_logits(_levels(inputs, normalizer, 1), network), problem.action_spec.shape)


def _row_logits(levels: tf.Tensor, network: ExactNetwork) -> tf.Tensor:
    """float32 [P, 1], z of the rows float32 [P, D]."""
    hidden = levels
    for layer in network.hidden:
        way = tf.nn.relu6(tf.nn.bias_add(tf.matmul(hidden, layer.kernel), layer.bias))
        hidden = tf.floor(way * np.float32(HIDDEN_PER_UNIT))
    return tf.matmul(hidden, network.logits)


def _uniform(seeds: tuple[int, int], shape) -> tf.Tensor:
    return tf.raw_ops.RandomUniform(shape=list(shape), dtype=tf.float32, seed=seeds[0], seed2=seeds[1]) + _HALF_STEP


def _normal(seeds: tuple[int, int], shape) -> tf.Tensor:
    return tf.raw_ops.RandomStandardNormal(shape=list(shape), dtype=tf.float32, seed=seeds[0], seed2=seeds[1])


def _levels(inputs: dict[str, tf.Tensor], normalizer: Normalizer, positions: int) -> tf.Tensor:
    """float32 [P, D], the levels of all positions."""
    embeddings = [name for name in normalizer.tensors if positions == 1 and inputs[name].shape.num_elements() > 1]
    features = [name for name in normalizer.tensors if name not in embeddings]
    # With one position every feature is a whole one; otherwise those of the whole observation come last and are
    # repeated.
    single = [name for name in features if positions > 1 and inputs[name].shape.num_elements() == 1]
    unlike = [name for name in features if inputs[name].dtype != tf.float32 and name not in single]
    types = dict.fromkeys(inputs[name].dtype for name in unlike)
    groups = [[name for name in unlike if inputs[name].dtype == dtype] for dtype in types]
    whole = [name for group in groups for name in group]
    order = whole + [name for name in features if name not in whole and name not in single] + single
    # Whole features of a type are converted together: one cast instead of five.
    stacked = [
        tf.cast(tf.concat([tf.reshape(inputs[name], [1, -1]) for name in group], 0), tf.float32) for group in groups
    ]
    for name in order[len(whole) :]:
        value = tf.cast(tf.reshape(inputs[name], [1, -1]), tf.float32)
        stacked.append(tf.tile(value, [1, positions]) if name in single else value)
    for name in embeddings:
        stacked.append(tf.reshape(inputs[name], [-1, 1]))
        order += element_names(name, inputs[name].shape.num_elements())
    used = set(normalizer.features)
    x = tf.concat(stacked, 0)
    tops = [[normalizer.highest(name) if name in used else 0.0] for name in order]
    highest = np.repeat(np.array(tops, np.float32), positions, axis=1)
    x = tf.where(x < highest, x, highest)
    x = tf.gather(x, np.array([order.index(column.feature) for column in normalizer.columns], np.int32))
    starts = np.array([[column.start] for column in normalizer.columns], np.float32)
    slopes = np.array([[column.slope] for column in normalizer.columns], np.float32)
    levels = tf.floor(tf.nn.relu6((x - starts) * slopes) * np.float32(LEVELS_PER_UNIT))
    if normalizer.mark_last_position:
        last = np.zeros((1, positions), np.float32)
        last[0, -1] = TOP_LEVEL
        levels = tf.concat([levels, last], 0)
    return tf.transpose(levels)
