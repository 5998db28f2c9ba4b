"""Writes training logs byte for byte as llvm/lib/Analysis/TrainingLogger.cpp does."""

import dataclasses
import json
from typing import Any

import numpy as np

from mlgo.problems.objective import LoggedScore
from mlgo.problems.problem import Problem
from mlgo.problems.tensor import LOG_TYPE_OF_NUMPY_NAME, TensorSpec

#: A problem with logs of a few bytes.
SMALL_PROBLEM = Problem(
    folder="small",
    observation_specs=(TensorSpec("legal", "int64", (1, 3)), TensorSpec("size", "float32", (1,))),
    action_spec=TensorSpec("choice", "int64", (1,)),
    action_count=3,
    mask_feature="legal",
    score=LoggedScore(TensorSpec("reward", "float32", (1,)), "minimize"),
    advisor_flag="advisor",
    log_flag="log",
    model_flag="model",
)


@dataclasses.dataclass(frozen=True)
class Observation:
    """One decision: a flat array per tensor, in the order of the log, decision last; outcome None: not logged."""

    values: tuple[np.ndarray, ...]
    outcome: float | None = 0.0


def header(problem: Problem, extra_outputs: tuple[TensorSpec, ...] = (), has_score: bool = True) -> bytes:
    """The header line that a development clang writes for `problem`, with its newline."""
    described: dict[str, Any] = {"features": [_tensor(spec) for spec in problem.logged_specs(extra_outputs)]}
    if has_score and problem.logged_score_spec is not None:
        described["score"] = _tensor(problem.logged_score_spec)
    return _line(described)


def channel_header(problem: Problem, include_default: bool = False) -> bytes:
    """The header line that any clang writes into the interactive channel, with its newline."""
    features = [_tensor(spec) for spec in problem.interactive_specs(include_default)]
    return _line({"features": features, "advice": _tensor(problem.action_spec)})


def context(name: str) -> bytes:
    return _line({"context": name})


def _line(described: dict[str, Any]) -> bytes:
    return json.dumps(described, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def observation(number: int, values: tuple[np.ndarray, ...]) -> bytes:
    return b'{"observation":%d}\n' % number + b"".join(value.tobytes() for value in values) + b"\n"


def outcome(number: int, score: float) -> bytes:
    return b'{"outcome":%d}\n' % number + np.float32(score).tobytes() + b"\n"


def write_log(
    problem: Problem,
    contexts: list[tuple[str, list[Observation]]],
    extra_outputs: tuple[TensorSpec, ...] = (),
    has_score: bool = True,
) -> bytes:
    """A whole log with these contexts (name, observations)."""
    parts = [header(problem, extra_outputs, has_score)]
    for name, observations in contexts:
        parts.append(context(name))
        for number, entry in enumerate(observations):
            parts.append(observation(number, entry.values))
            if entry.outcome is not None and has_score and problem.logged_score_spec is not None:
                parts.append(outcome(number, entry.outcome))
    return b"".join(parts)


def plausible_observation(
    problem: Problem,
    random: np.random.Generator,
    outcome: float | None = 0.0,  # pylint: disable=redefined-outer-name
) -> Observation:
    """Random values: features in [0, 2), a mask with at least one 1, and a legal decision (numbers: in [0, 1))."""
    decision = random.random() if problem.action_count is None else random.integers(problem.action_count)
    legal = np.empty(0)
    if problem.mask_feature is not None:
        assert problem.action_count is not None  # A mask is of positions.
        legal = random.integers(0, 2, problem.action_count)
        legal[random.integers(problem.action_count)] = 1
        decision = random.choice(np.flatnonzero(legal))
    values = []
    for spec in problem.logged_specs()[:-1]:
        if spec.name == problem.mask_feature:
            values.append(legal.astype(spec.dtype))
        else:
            values.append((random.random(spec.element_count) * 2).astype(spec.dtype))
    values.append(np.full(problem.action_spec.element_count, decision, problem.action_spec.dtype))
    return Observation(tuple(values), outcome)


def _tensor(spec: TensorSpec) -> dict:
    return {"name": spec.name, "type": LOG_TYPE_OF_NUMPY_NAME[spec.dtype], "port": 0, "shape": list(spec.shape)}
