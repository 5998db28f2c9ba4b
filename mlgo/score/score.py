"""The interface of scores: how a compile's result is read, compared with the default's, and credited to decisions.

`Score` belongs to a problem (problem_score.py), `CorpusScore` to a problem and a corpus. Both have one implementation
for scores that the compiler logs (problem_score.py) and one for the size of the code (code_size.py, code_credit.py).
"""

import abc
import math
import typing
from collections.abc import Mapping, Sequence

from mlgo.compiler.request import CompileResult
from mlgo.compiler.training_log import TrainingLog
from mlgo.problems.objective import CodeSize, LoggedScore
from mlgo.score.function_scores import FunctionScore, score_ratio

#: Function name -> its score.
FunctionScores = Mapping[str, FunctionScore]

#: Improvements that are logarithms of ratios lie within this on both sides: nothing counts as more than ten times as
#: good or as bad as the default. Ours, far out: a mean of values that a bound often cuts off, or on one side only, may
#: have the wrong sign.
LARGEST_IMPROVEMENT = math.log(10.0)


class CorpusScore(typing.Protocol):
    """Compares compiles of the modules of one corpus with the compiler's default."""

    def module_improvement(
        self, module: str, found: FunctionScores, default: FunctionScores
    ) -> tuple[float, float] | None:
        """(improvement, weight in means) of `module`; 0.02 is about 2 % better. None: nothing can be compared.

        The improvement is minus the logarithm of a ratio, bounded by `bounded`.
        """

    def comparison_rows(self, module: str, functions: FunctionScores) -> FunctionScores:
        """The scores that are compared one by one: those of the functions, or the score of the module under ""."""

    def credits_of(
        self, module: str, found: Sequence[FunctionScores], default: FunctionScores, logs: Sequence[TrainingLog]
    ) -> list[tuple[tuple[str, ...], dict[str, float]]]:
        """The credit of decisions, for each compile of `module`, whose scores are `found`. Returns: (a name for each
        context of the log, name -> the credit of the decisions there). Contexts without anything to compare are missing
        from the second.
        """


def bounded(improvement: float) -> float:
    """`improvement`, or the nearest bound of LARGEST_IMPROVEMENT."""
    return min(max(improvement, -LARGEST_IMPROVEMENT), LARGEST_IMPROVEMENT)


def failed_improvement(corpus_score: CorpusScore, module: str, default: FunctionScores) -> tuple[float, float] | None:
    """A failed compile of `module` as CorpusScore.module_improvement: the worst, so that no policy gains by failing."""
    unchanged = corpus_score.module_improvement(module, default, default)
    return None if unchanged is None else (-LARGEST_IMPROVEMENT, unchanged[1])


class Score(abc.ABC):
    """How compiles of one problem are scored. Attributes: unit, built_in_corpus: as LoggedScore's."""

    rewards: tuple[str, ...]  #: names of the ways to count the score, the default first.
    compared_items: str  #: what is compared with the default one by one, "functions" or "modules".
    #: needs_log, needs_object: what a compile must return so that `read` can score it.
    needs_log: bool
    needs_object: bool
    uses_other_modules: bool  #: whether the score of a module depends on the default compiles of the others.
    links_images: bool  #: whether evaluations also link the objects of a corpus and compare the images.

    def __init__(self, data: LoggedScore | CodeSize):
        self.unit, self.built_in_corpus = data.unit, data.built_in_corpus
        self._offset, self._goal = data.offset, data.goal

    @abc.abstractmethod
    def read(self, result: CompileResult) -> dict[str, FunctionScore]:
        """The scores in `result`, by function. Raises: RunError: the object cannot be read."""

    @abc.abstractmethod
    def for_corpus(self, default: Mapping[str, FunctionScores], reward: str | None = None) -> CorpusScore:
        """Args: default: by module, under the compiler's default. Raises: ValueError: there is no such reward."""

    @abc.abstractmethod
    def totals(self, sides: Sequence[FunctionScores]) -> tuple[str, list[float]]:
        """A description of what is added up for a module, and the total of each of `sides`, which are of one module."""

    @property
    def larger_is_better(self) -> bool:
        return self._goal == "maximize"

    def ratio(self, default: float, found: float) -> float:
        return score_ratio(default, found, self._offset, self._goal)

    def chosen_reward(self, name: str | None) -> str:
        """`name`, or the first reward when it is None or "". Raises: ValueError: there is no reward of that name."""
        if name and name not in self.rewards:
            raise ValueError(f"reward {name!r} is not supported; the rewards are {', '.join(self.rewards)}")
        return name or self.rewards[0]
