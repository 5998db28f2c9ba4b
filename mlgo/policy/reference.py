"""The decisions of a policy in NumPy: the reference for every backend, bit for bit.

TensorFlow, TensorFlow Lite, XLA and the generated C++ compute the same numbers in the same precision (graph.py says
which); the network's sums are exact in any order (mlgo/learning/exact_network.py), everything before and after is one
operation at a time.
"""

from collections.abc import Mapping

import numpy as np

from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import PolicyNetwork
from mlgo.learning.normalization import Normalizer
from mlgo.policy.checks import known_features, normalizer_fault
from mlgo.problems.problem import Problem

#: Observations at a time: bounds the memory of the levels (33 positions x 63 columns x 4 bytes each).
_BLOCK = 4096


def decide(network: PolicyNetwork, problem: Problem, observation: Mapping[str, np.ndarray]) -> np.ndarray:
    """The decision for one observation, an array of the dtype and shape of `problem.action_spec`.

    Args: observation: feature -> array with the shape of its spec; features that the policy does not know are ignored.
    Raises: see `decide_many`.
    """
    known = known_features(network.normalizer, problem)
    return decide_many(network, problem, {name: np.asarray(observation[name])[None] for name in known})[0]


def decide_many(network: PolicyNetwork, problem: Problem, observations: Mapping[str, np.ndarray]) -> np.ndarray:
    """The greedy decisions for N observations, [N, *shape of the action].

    Args: observations: feature -> [N, *shape of its spec], of the spec's dtype. A choice without any legal position is
      0.

    Raises:
      KeyError: a feature that the policy knows is missing.
      ValueError: an array has another dtype or shape, or the normaliser is of another problem.
      RunError: the weights cannot be computed with exactly.
    """
    normalizer = network.normalizer
    if clause := normalizer_fault(normalizer, problem):
        raise ValueError(clause)
    arrays = {name: np.asarray(observations[name]) for name in known_features(normalizer, problem)}
    (count,) = {len(array) for array in arrays.values()}
    for name, array in arrays.items():
        spec = problem.observation_spec(name)
        if array.dtype != spec.dtype or array.shape != (count, *spec.shape):
            raise ValueError(
                f"feature {name} is {array.dtype}{list(array.shape)}, expected {spec.dtype}{[count, *spec.shape]}"
            )
    exact = exact_network(network.weights)
    positions = problem.action_count or 1 if problem.mask_feature else 1
    z = np.empty((count, positions), np.float32)
    for begin in range(0, count, _BLOCK):
        end = min(begin + _BLOCK, count)
        block = {name: array[begin:end] for name, array in arrays.items()}
        values = _of_positions(block, normalizer, positions) if problem.mask_feature else normalizer.values(block)
        is_last = np.tile(np.arange(positions) == positions - 1, end - begin)
        z[begin:end] = exact.row_logits(normalizer.levels(values, is_last)).reshape(end - begin, positions)
    if problem.mask_feature is not None:
        # argmax takes the first of equals.
        decisions = np.where(arrays[problem.mask_feature].reshape(z.shape) > 0, z, -np.inf).argmax(axis=1)
    elif problem.decision_kind == "binary":
        decisions = z[:, 0] > 0
    else:
        number = np.minimum(z[:, 0], np.float32(problem.max_output)) * np.float32(problem.output_unit)
        decisions = np.where(z[:, 0] > 0, number, np.float32(0))
    return decisions.astype(problem.action_spec.dtype).reshape(count, *problem.action_spec.shape)


def _of_positions(block: Mapping[str, np.ndarray], normalizer: Normalizer, positions: int) -> dict[str, np.ndarray]:
    """feature -> [N * positions]; a feature of the whole observation counts for each of its positions."""
    count = len(next(iter(block.values())))
    return {
        name: np.broadcast_to(block[name].reshape(count, -1), (count, positions)).reshape(-1)
        for name in normalizer.features
    }
