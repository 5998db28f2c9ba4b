"""Decisions as bytes for the interactive channel; a decision that the compiler may not be given is refused here.

LLVM's release archives check nothing: an eviction outside the mask is memory corruption there, a priority that is no
32-bit unsigned integer is undefined behaviour.
"""

import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mlgo.problems.problem import Problem

_FORMAT = {"int64": "<q", "int32": "<i", "float32": "<f"}

#: Makes bytes of a decision for an observation with these features.
Encoder = Callable[[Any, Mapping[str, np.ndarray]], bytes]


class WrongAnswerError(ValueError):
    """A decision which is not one of those the compiler allows here; it was not sent."""


def encoder(problem: Problem) -> Encoder:
    """The function that checks and encodes decisions of `problem`.

    It takes a Python or NumPy number, or an array that holds one, and raises WrongAnswerError unless it is
      choice: an integer (not a bool) whose position in the mask is 1;
      binary: 0, 1, or a bool;
      number: finite as float32 and within the problem's action_bounds.
    """
    pack = struct.Struct(_FORMAT[problem.action_spec.dtype]).pack
    allowed = f"{problem.action_spec.name} must be "

    def one(decision: Any) -> Any:
        if isinstance(decision, np.ndarray) and decision.size == 1:
            return decision.reshape(-1)[0]
        return decision

    def choice(decision: Any, features: Mapping[str, np.ndarray]) -> bytes:
        position = one(decision)
        if isinstance(position, bool) or not isinstance(position, (int, np.integer)):
            raise WrongAnswerError(f"{allowed}an integer, not {decision!r}")
        assert problem.mask_feature is not None and problem.action_count is not None  # Of a categorical decision.
        mask = features[problem.mask_feature]
        if not (0 <= position < problem.action_count and mask.item(position) == 1):
            legal = np.flatnonzero(mask).tolist()
            raise WrongAnswerError(f"{allowed}one of the positions {legal}, which the mask allows, not {decision!r}")
        return pack(position)

    def binary(decision: Any, _) -> bytes:
        answer = one(decision)
        if not isinstance(answer, (int, np.integer, np.bool_)) or answer not in (0, 1):
            raise WrongAnswerError(f"{allowed}0 or 1, not {decision!r}")
        return pack(int(answer))

    def number(decision: Any, _) -> bytes:
        assert problem.action_bounds is not None  # Of a continuous decision.
        lowest, highest = problem.action_bounds
        value = one(decision)
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise WrongAnswerError(f"{allowed}a number, not {decision!r}")
        try:
            data = pack(value)
        except (OverflowError, struct.error):
            data = None
        # As float32 it may be larger than it was; NaN is within nothing.
        if data is None or not lowest <= struct.unpack("<f", data)[0] <= highest:
            raise WrongAnswerError(f"{allowed}a number from {lowest:.10g} to {highest:.10g}, not {decision!r}")
        return data

    return {"categorical": choice, "binary": binary, "continuous": number}[problem.decision_kind]
