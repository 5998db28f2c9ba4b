"""Imitation of a search: the bytes that a change of decisions saves are regressed on the features of these decisions.

A move turns decisions of a build: all calls of one function in or out, a single call, or several such changes that a
search took together. It was compiled, so the bytes that it saves are known. Let x(d) be the features (levels) of
decision d, and s(d) = 1 if the move inlines d and -1 if it keeps it. For every move,

    bytes saved / 16  =  sum over its decisions d of s(d) x(d) . effect  +  noise

z = x . effect is the margin of a decision: the bytes that inlining saves, in units of 16. The policy inlines where it
is positive. A change that pays only as a whole, as when a function vanishes with its last call, is learned as a whole:
only the sum of its margins is compared with the measurement.

The loss is squared, and the weight of an equation depends on its features and never on what was measured. Then an error
counts by its bytes, and the sign of a margin is that of the mean of what was measured, as is right where mistakes cost
unequally. With weights of one over the bytes, the majority of moves would decide however little they save.

Builds are those of the current policy (Ross, Gordon and Bagnell, "A reduction of imitation learning and structured
prediction to no-regret online learning", 2011: the states that the policy itself reaches), and better ones that the
search reached from there. Decisions unlike all that were measured keep the margin of the start: the regression is of
what is missing to it, shrunk towards 0.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from mlgo.learning.learner import MovePlan, Sample, Variant, balance_of
from mlgo.learning.linear_learner import LinearLearner, linear_fit, linear_rows
from mlgo.learning.linear_network import linear_effect, linear_network
from mlgo.run.exit_codes import ExitCode, RunError

#: Bytes of a margin of 1: about one inlined call. Policies answer with margins up to 8.
MARGIN_BYTES = 16.0


@dataclasses.dataclass(frozen=True)
class MoveBatch:
    """The equations of one iteration, one per move.

    Attributes:
      features: float64 [E, D + 1], the sum of s(d) x(d), the last column for a constant.
      saved: float64 [E], in units of MARGIN_BYTES.
      weights: float64 [E], > 0: one over the number of decisions, for each adds noise; balanced between projects.
      variance: of what one decision is worth: the median of the moves.
    """

    features: np.ndarray
    saved: np.ndarray
    weights: np.ndarray
    variance: float


class ImitateSearchLearner(LinearLearner):
    """Imitation of a search. The first policy is `ImitateSearchConfig.start`, or else the network to start from."""

    needs_given_decisions = True

    @property
    def move_plan(self) -> MovePlan:
        config = self.config
        return MovePlan(config.compiles_per_module, config.compiles_against_policy, config.unpromising)

    def variants(self, iteration: int) -> list[Variant]:
        """The current policy, greedy."""
        del iteration
        return [Variant(self._network, exploring=False)]

    def update(self, iteration: int, samples: Sequence[Sample]) -> dict[str, float]:
        """See `Learner.update`."""
        del iteration
        config = self.config
        batch = move_batch(samples)
        if not self.updates:
            # A fit knows nothing of decisions that were not seen.
            exact = linear_effect(self._network)
            seen = [sample.observations for sample in samples if sample.observations is not None]
            self._start = linear_fit(self._network, seen) if exact is None else exact
            self._effect = config.prior * self._start
        offset = config.prior * self._start
        missing = batch.saved - batch.features @ offset
        correction, _ = self._regress(batch.features, missing, batch.weights, batch.variance)
        self._effect = (1 - config.step) * self._effect + config.step * (offset + correction)
        self._network = linear_network(self._network, self._effect)
        self.updates += 1
        predicted = batch.features @ (offset + correction)
        return {
            "moves": float(len(batch.saved)),
            "turned_decisions": float(sum(len(move.decisions) for sample in samples for move in sample.moves)),
            "explained_variance": _explained(batch, predicted),
            "share_of_gain": _share_of_gain(batch.saved, predicted),
            "search_gain": 100.0 * _search_gain(samples),
            "largest_effect": float(np.abs(correction).max()),
        }


def move_batch(samples: Sequence[Sample]) -> MoveBatch:
    """The equations of `samples`.

    Raises: RunError: no move was measured.
    """
    features, saved, counts, names = [], [], [], []
    for sample in samples:
        if sample.observations is None or not sample.moves:
            continue
        observations = sample.observations
        # Turning "inline" keeps the call.
        signed = linear_rows(observations) * np.where(observations.actions > 0, -1.0, 1.0)[:, None]
        for move in sample.moves:
            features.append(signed[move.decisions].sum(axis=0))
            saved.append(move.saved_bytes / MARGIN_BYTES)
            counts.append(len(move.decisions))
            names.append(sample.module)
    if not saved:
        raise RunError(
            f"the compiles of {len({sample.module for sample in samples})} modules in an iteration",
            "measured no change of a decision",
            "Use more modules in an iteration, or modules with calls that could be inlined",
            ExitCode.NOTHING_PRODUCED,
        )
    squares = np.square(saved) / np.array(counts)
    variance = float(np.median(squares[squares > 0])) if (squares > 0).any() else 1.0
    weights = balance_of(names, np.ones(len(saved)), 0.5) / (np.array(counts) * variance)
    return MoveBatch(np.array(features), np.array(saved), weights, variance)


def _explained(batch: MoveBatch, predicted: np.ndarray) -> float:
    """The part of the weighted squares of what was saved that is predicted."""
    left = batch.weights @ np.square(batch.saved - predicted)
    return float(1.0 - left / max(float(batch.weights @ np.square(batch.saved)), 1e-12))


def _share_of_gain(saved: np.ndarray, predicted: np.ndarray) -> float:
    """What the moves save that are predicted to, relative to those that do."""
    possible = float(saved[saved > 0].sum())
    return float(saved[predicted > 0].sum()) / possible if possible else 0.0


def _search_gain(samples: Sequence[Sample]) -> float:
    """Mean over modules of how much better the best build is than the policy's."""
    first: dict[str, float] = {}
    best: dict[str, float] = {}
    for sample in samples:
        first.setdefault(sample.module, sample.improvement)
        best[sample.module] = max(best.get(sample.module, sample.improvement), sample.improvement)
    return float(np.mean([best[module] - first[module] for module in first]))
