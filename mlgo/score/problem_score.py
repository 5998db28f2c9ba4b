"""The score of a problem: the size of code, or one that the compiler logs per function, as LLVM's RegAllocScore."""

import math

import numpy as np

from mlgo.compiler.training_log import TrainingLog
from mlgo.problems.objective import LoggedScore
from mlgo.problems.problem import Problem
from mlgo.score.code_size import SizeOfCode, decisions_by_context
from mlgo.score.function_scores import FunctionScore
from mlgo.score.score import FunctionScores, Score, bounded


def score_of(problem: Problem) -> Score:
    """The implementation of the score that `problem` names."""
    return Logged(problem.score) if isinstance(problem.score, LoggedScore) else SizeOfCode(problem.score)


class Logged(Score):
    """The score of a problem with a LoggedScore, and the score of every corpus.

    The improvement of a function is minus the logarithm of its ratio: 0.02 means about two percent better than the
    default, and twice as good outweighs twice as bad. A decision is credited with it, and a module's is the mean over
    its functions. ml-compiler-opt credits 1 - the ratio to a moving average of past policies
    (compiler_opt/rl/compilation_runner.py, _calculate_reward), in which losses outweigh gains.
    """

    rewards = ("score",)
    compared_items = "functions"
    needs_log, needs_object = True, False
    uses_other_modules = links_images = False

    def read(self, result):
        return scores_of_log(result.log)

    def for_corpus(self, default, reward=None):
        self.chosen_reward(reward)
        return self

    def totals(self, sides):
        both = set.intersection(*map(set, sides))
        totals = [math.fsum(scores[name].score for name in both) for scores in sides]
        return f"{self.unit}s of {len(both)} functions, added up", totals

    def module_improvement(self, module, found, default):
        improvements = self._improvements(found, default)
        if not improvements:
            return None
        return bounded(math.fsum(improvements.values()) / len(improvements)), float(len(improvements))

    def comparison_rows(self, module, functions):
        return functions

    def credits_of(self, module, found, default, logs):
        improvements = [self._improvements(each, default) for each in found]
        credits = [{name: float(np.float32(bounded(x))) for name, x in each.items()} for each in improvements]
        return [(tuple(log.contexts), each) for log, each in zip(logs, credits, strict=True)]

    def _improvements(self, found: FunctionScores, default: FunctionScores) -> dict[str, float]:
        """Those of the functions that both sides have, by name, sorted."""
        both = sorted(set(found) & set(default))
        return {name: -math.log(self.ratio(default[name].score, found[name].score)) for name in both}


def scores_of_log(log: TrainingLog) -> dict[str, FunctionScore]:
    """The functions of one module that had decisions and a score, by name.

    A name that occurs twice counts as one function: its decisions are added up, and its last score counts.
    """
    last = {
        name: outcome
        for name, outcome in zip(log.contexts, log.outcomes.tolist(), strict=True)
        if not math.isnan(outcome)
    }
    counts = decisions_by_context(log, log.contexts)
    return {
        name: FunctionScore(count, last[name])
        for name, count in counts.items()
        if name in last and math.isfinite(last[name])
    }
