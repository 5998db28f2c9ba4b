"""The policy as a TensorFlow graph: features in, decision out, no step of which depends on the runtime's rounding.

Normalisation: see mlgo/learning/normalization.py. Layers: see mlgo/learning/exact_network.py. The decision is the lowest
position among those with the highest logit, computed as such (ArgMax leaves ties open). Masked positions are replaced
after the last layer, so whatever they hold, NaN included, does not reach the decision.
"""

import dataclasses

import numpy as np
import tensorflow as tf

from mlgo.learning.exact_network import HIDDEN_PER_UNIT, ExactNetwork
from mlgo.learning.normalization import LEVELS_PER_UNIT, TOP_LEVEL, Normalizer
from mlgo.problems.problem import Problem
from mlgo.run.exit_codes import RunError

#: Below every logit: |logit| < 2^24 on its grid.
_ILLEGAL = np.float32(-1e30)
#: TensorFlow's uniform numbers are multiples of 2^-23 in [0, 1); half a step more and they are never 0, exactly.
_HALF_STEP = np.float32(2.0**-24)


@dataclasses.dataclass(frozen=True)
class PolicyGraph:
    """A graph and the names of what goes in and out.

    Attributes:
      graph: the tf.Graph.
      inputs: feature name -> placeholder, all observations of the problem, in its order.
      output: the decision, int64 [1].
    """

    graph: tf.Graph
    inputs: dict[str, tf.Tensor]
    output: tf.Tensor


def build_graph(
    problem: Problem, normalizer: Normalizer, network: ExactNetwork, exploration_seeds: tuple[int, int] | None = None
) -> PolicyGraph:
    """The greedy policy, or with `exploration_seeds` the one that draws from softmax(logits).

    Drawing is the Gumbel-max trick: argmax(logits - log(-log(u))), u uniform from TensorFlow's Philox generator with
    these two seeds, which TensorFlow Lite continues from decision to decision.

    Placeholders are named as LLVM's model inputs (`problem.model_input_prefix` + feature).

    Raises: RunError: the problem has no mask.
    """
    if problem.mask_feature is None:
        raise RunError(
            f"problem {problem.name}", "has no mask", "Only choices among masked candidates can be exported so far"
        )
    graph = tf.Graph()
    with graph.as_default():
        inputs = {
            spec.name: tf.compat.v1.placeholder(spec.dtype, spec.shape, name=problem.model_input_prefix + spec.name)
            for spec in problem.observation_specs
        }
        mask = tf.reshape(inputs[problem.mask_feature], [1, -1])
        positions = mask.shape[1]
        hidden = _levels(inputs, normalizer, positions)
        for layer in network.hidden:
            way = tf.nn.relu6(tf.nn.bias_add(tf.matmul(hidden, layer.kernel), layer.bias))
            hidden = tf.floor(way * np.float32(HIDDEN_PER_UNIT))
        logits = tf.reshape(tf.matmul(hidden, network.logits), [1, positions])
        if exploration_seeds is not None:
            seed, seed2 = exploration_seeds
            uniform = tf.raw_ops.RandomUniform(shape=[1, positions], dtype=tf.float32, seed=seed, seed2=seed2)
            logits = logits - tf.math.log(-tf.math.log(uniform + _HALF_STEP))
        logits = tf.where(mask > 0, logits, _ILLEGAL)
        best = tf.reduce_max(logits, axis=1, keepdims=True)
        numbers = np.arange(positions, dtype=np.float32)[None]
        lowest = tf.reduce_min(tf.where(logits >= best, numbers, np.float32(positions)), axis=1)
        output = tf.cast(lowest, tf.int64, name=problem.action_spec.name)
    return PolicyGraph(graph, inputs, output)


def _levels(inputs: dict[str, tf.Tensor], normalizer: Normalizer, positions: int) -> tf.Tensor:
    """float32 [P, D], the levels of all positions."""
    features = normalizer.features
    whole = [name for name in features if inputs[name].dtype != tf.float32 and inputs[name].shape.num_elements() > 1]
    single = [name for name in features if inputs[name].shape.num_elements() == 1]
    order = whole + [name for name in features if name not in whole and name not in single] + single
    # Whole features are converted together: one cast instead of five.
    stacked = [tf.cast(tf.concat([tf.reshape(inputs[name], [1, -1]) for name in whole], 0), tf.float32)] if whole else []
    for name in order[len(whole) :]:
        value = tf.cast(tf.reshape(inputs[name], [1, -1]), tf.float32)
        stacked.append(tf.tile(value, [1, positions]) if name in single else value)
    x = tf.concat(stacked, 0)
    highest = np.repeat(np.array([[normalizer.highest(name)] for name in order], np.float32), positions, axis=1)
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
