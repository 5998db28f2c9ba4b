"""The score of a problem."""

from mlgo.problems.problem import LoggedScore, Problem
from mlgo.score.code_size import SizeOfCode
from mlgo.score.logged import Logged
from mlgo.score.score import Score


def score_of(problem: Problem) -> Score:
    """The implementation of the score that `problem` names."""
    return Logged(problem.score) if isinstance(problem.score, LoggedScore) else SizeOfCode(problem.score)
