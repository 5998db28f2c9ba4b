"""What a compile is worth against the compiler's default, per function and per module."""

import math
from collections.abc import Mapping

import numpy as np

from mlgo.compiler.request import CompileResult
from mlgo.learning.rewards import relative_improvement
from mlgo.problems.problem import Problem
from mlgo.trace import scores
from mlgo.trace.outcomes import ModuleRecord
from mlgo.trace.scores import FunctionScore, score_ratio


def scores_of(result: CompileResult, problem: Problem) -> dict[str, FunctionScore]:
    """The scores of the functions in `result`, by name."""
    del problem
    return scores.scores_of(result.log)


def improvements_of(result: CompileResult, default: ModuleRecord, problem: Problem) -> dict[str, float]:
    """By function that has a score on both sides: how much better it became than under the default."""
    found = scores_of(result, problem)
    names = sorted(set(found) & set(default.functions))
    values = relative_improvement(
        np.array([found[name].score for name in names]), np.array([default.functions[name].score for name in names])
    )
    return dict(zip(names, values.tolist(), strict=True))


def module_improvement(
    found: Mapping[str, FunctionScore], default: Mapping[str, FunctionScore], problem: Problem
) -> tuple[float, float] | None:
    """(minus the mean logarithm of the functions' score ratios, number of functions); None when no function is on both sides."""
    names = sorted(set(found) & set(default))
    if not names:
        return None
    logarithms = [math.log(score_ratio(problem, default[name].score, found[name].score)) for name in names]
    return -math.fsum(logarithms) / len(names), float(len(names))
