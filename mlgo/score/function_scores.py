"""Scores per function out of training logs, and the ratio of two scores."""

import dataclasses
import math

import numpy as np

from mlgo.compiler.training_log import TrainingLog
from mlgo.problems.problem import Problem

#: Added to both scores before they are divided, so that a score of 0 has a finite ratio. In units of the score. The peer
#: (ml-compiler-opt, compiler_opt/rl/constant.py, DELTA) uses the same; functions with decisions score 1 and more.
SCORE_OFFSET = 0.01


@dataclasses.dataclass(frozen=True)
class FunctionScore:
    """What one compile made of one function.

    Attributes:
      decisions: how many decisions were taken in it, >= 0.
      score: the compiler's own score of the result, or its code's size in bytes; the problem says whether less or more is better.
      comdat: the signature of its COMDAT, where the score is a size; None: it has none.
    """

    decisions: int
    score: float
    comdat: str | None = None

    def __post_init__(self):
        if self.decisions < 0 or not math.isfinite(self.score):
            raise ValueError(f"a function score needs decisions >= 0 and a finite score, not {self}")


def scores_of_log(log: TrainingLog) -> dict[str, FunctionScore]:
    """The functions of one module that had decisions and a score, by name.

    A name that comes twice counts as one function: its decisions are added up, the last score stands.
    """
    counts = np.bincount(log.observation_context, minlength=len(log.contexts))
    decisions: dict[str, int] = {}
    last: dict[str, float] = {}
    for name, count, outcome in zip(log.contexts, counts.tolist(), log.outcomes.tolist(), strict=True):
        decisions[name] = decisions.get(name, 0) + count
        if not math.isnan(outcome):
            last[name] = outcome
    return {
        name: FunctionScore(count, last[name])
        for name, count in decisions.items()
        if count and name in last and math.isfinite(last[name])
    }


def score_ratio(problem: Problem, default: float, candidate: float) -> float:
    """The candidate's score divided by the default's, inverted where more is better: below 1 means better code.

    Args: both are scores of the same function, >= 0.
    Raises: ValueError: one is negative or not finite.
    """
    if not (0 <= default < math.inf and 0 <= candidate < math.inf):
        raise ValueError(f"scores {default} and {candidate}: both must be finite and at least 0 to have a ratio")
    ratio = (candidate + SCORE_OFFSET) / (default + SCORE_OFFSET)
    return ratio if problem.score_goal == "minimize" else 1.0 / ratio
