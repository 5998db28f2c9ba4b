"""What a compile is worth against the compiler's default: per context, for the decisions taken there, and per module.

Two kinds of problems: those whose score LLVM logs per function (register allocation), and those whose score is the size of the
code (inlining; code_measure.py). A `Measure` hides the difference from whoever trains, validates or compares.
"""

import math
import typing
from collections.abc import Mapping, Sequence

import numpy as np

from mlgo.compiler.training_log import TrainingLog
from mlgo.problems.problem import Problem
from mlgo.score.code_measure import CodeMeasure
from mlgo.score.function_scores import FunctionScore, score_ratio
from mlgo.score.rewards import relative_improvement


class Measure(typing.Protocol):
    """How compiles of one problem are compared with the default's."""

    def module_improvement(
        self, module: str, found: Mapping[str, FunctionScore], default: Mapping[str, FunctionScore]
    ) -> tuple[float, float] | None:
        """(improvement, weight in means) of `module`; 0.02 is about two percent better. None: there is nothing to compare."""

    def compared(self, module: str, functions: Mapping[str, FunctionScore]) -> Mapping[str, FunctionScore]:
        """What is held against the default's one by one: a module's functions, or the module as a whole under ""."""

    def improvements_of(
        self,
        module: str,
        found: Sequence[Mapping[str, FunctionScore]],
        default: Mapping[str, FunctionScore],
        logs: Sequence[TrainingLog],
    ) -> list[tuple[tuple[str, ...], dict[str, float]]]:
        """For each compile of `module`, of which `found` are the scores and `logs` the logs: (a name for each of the log's
        contexts, name -> improvement that the decisions there are credited with). Contexts without anything to compare are
        missing from the second.
        """


def measure_of(
    problem: Problem, default: Mapping[str, Mapping[str, FunctionScore]], reward: str | None = None
) -> Measure:
    """The measure of `problem`.

    Args:
      default: module name -> what the default makes of it, over the whole corpus: it says which COMDATs are carried how often.
      reward: one of `problem.rewards`; None: the first.

    Raises: ValueError: the problem has no such reward.
    """
    if problem.score_spec is not None:
        return LogMeasure(problem)
    return CodeMeasure.of(problem.chosen_reward(reward), default)


class LogMeasure:
    """Scores per function that LLVM logs; a module's improvement is minus the mean logarithm of its functions' score ratios."""

    def __init__(self, problem: Problem):
        self._problem = problem

    def module_improvement(self, module, found, default):
        del module
        names = sorted(set(found) & set(default))
        if not names:
            return None
        logarithms = [math.log(score_ratio(self._problem, default[name].score, found[name].score)) for name in names]
        return -math.fsum(logarithms) / len(names), float(len(names))

    def compared(self, module, functions):
        del module
        return functions

    def improvements_of(self, module, found, default, logs):
        del module
        return [(tuple(log.contexts), self._improvements(each, default)) for each, log in zip(found, logs, strict=True)]

    @staticmethod
    def _improvements(found: Mapping[str, FunctionScore], default: Mapping[str, FunctionScore]) -> dict[str, float]:
        names = sorted(set(found) & set(default))
        values = relative_improvement(
            np.array([found[name].score for name in names]), np.array([default[name].score for name in names])
        )
        return dict(zip(names, values.tolist(), strict=True))
