"""A problem's observations and decisions as Gymnasium spaces, and values from one to the other."""

import math
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from mlgo.problems.problem import Problem


def observation_space(problem: Problem) -> gymnasium.spaces.Dict:
    """One Box per feature, with the problem's shape and dtype; the mask holds 0 and 1, all others are unbounded."""
    boxes = {}
    for spec in problem.interactive_specs():
        dtype = np.dtype(spec.dtype)
        low, high = (0, np.iinfo(dtype).max) if dtype.kind == "u" else (-np.inf, np.inf)
        if spec.name == problem.mask_feature:
            low, high = 0, 1
        boxes[spec.name] = gymnasium.spaces.Box(low, high, spec.shape, dtype.type)
    return gymnasium.spaces.Dict(boxes)


def action_space(problem: Problem) -> gymnasium.spaces.Space:
    """Discrete, or for a continuous decision a Box of one value in [0, 1], which `decision` scales."""
    if problem.decision_kind == "continuous":
        return gymnasium.spaces.Box(0.0, 1.0, (1,), np.float32)
    return gymnasium.spaces.Discrete(problem.action_count)


def observation(features: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Copies of the features, NaN as +infinity, as mlgo/learning/normalization.py treats it: a space holds no NaN.

    LLVM computes inf/inf for live ranges that must not be spilled.
    """
    return {
        name: np.fmin(array, array.dtype.type(np.inf)) if array.dtype.kind == "f" else array.copy()
        for name, array in features.items()
    }


def final_observation(problem: Problem) -> dict[str, np.ndarray]:
    """The observation at the end of an episode: zeros."""
    return {spec.name: np.zeros(spec.shape, spec.dtype) for spec in problem.interactive_specs()}


def decision(problem: Problem, action: Any) -> Any:
    """The answer to the compiler for `action`, which may be illegal.

    A continuous action is scaled by the smallest power of two above the problem's largest decision. Nothing is rounded:
    a policy's decision divided by that power is its action. The action 1 becomes the largest decision.
    """
    if problem.decision_kind != "continuous":
        return action
    value = np.asarray(action, np.float32) * np.float32(number_scale(problem))
    return np.minimum(value, np.float32(_highest(problem)))


def number_scale(problem: Problem) -> float:
    """What the action 1 stands for, in units of the decision: 2^32 for priorities."""
    return 2.0 ** math.ceil(math.log2(_highest(problem)))


def _highest(problem: Problem) -> float:
    assert problem.action_bounds is not None  # Of a continuous decision.
    return problem.action_bounds[1]
