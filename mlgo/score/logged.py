"""Scores that the compiler logs per function, such as LLVM's RegAllocScore."""

import math

import numpy as np

from mlgo.compiler.training_log import TrainingLog
from mlgo.score.function_scores import FunctionScore
from mlgo.score.score import FunctionScores, Score


class Logged(Score):
    """The score of a problem with a LoggedScore, and the measure of every corpus.

    The improvement of a module is minus the mean logarithm of the ratios of its functions. A decision is credited with
    1 - the ratio of its function: 0.02 means two percent better than the default. ml-compiler-opt does the same
    (compiler_opt/rl/compilation_runner.py, _calculate_reward), but compares with a moving average of past policies. The
    default's score is fixed, so that the credits of different iterations can be compared.
    """

    rewards = ("score",)
    compared_items = "functions"
    needs_log, needs_object = True, False
    needs_whole_corpus = links_images = False

    def read(self, result):
        return scores_of_log(result.log)

    def measure(self, default, reward=None):
        del default
        self.chosen_reward(reward)
        return self

    def totals(self, sides):
        both = set.intersection(*map(set, sides))
        totals = [math.fsum(scores[name].score for name in both) for scores in sides]
        return f"{self.unit}s of {len(both)} functions, added up", totals

    def module_improvement(self, module, found, default):
        del module
        logarithms = [math.log(ratio) for ratio in self._ratios(found, default).values()]
        return (-math.fsum(logarithms) / len(logarithms), float(len(logarithms))) if logarithms else None

    def compared(self, module, functions):
        del module
        return functions

    def improvements_of(self, module, found, default, logs):
        del module
        return [
            (
                tuple(log.contexts),
                {name: float(np.float32(1.0 - ratio)) for name, ratio in self._ratios(each, default).items()},
            )
            for each, log in zip(found, logs, strict=True)
        ]

    def _ratios(self, found: FunctionScores, default: FunctionScores) -> dict[str, float]:
        """The ratios of the functions that both sides have, by name, sorted."""
        return {name: self.ratio(default[name].score, found[name].score) for name in sorted(set(found) & set(default))}


def scores_of_log(log: TrainingLog) -> dict[str, FunctionScore]:
    """The functions of one module that had decisions and a score, by name.

    A name that occurs twice counts as one function: its decisions are added up, and its last score counts.
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
