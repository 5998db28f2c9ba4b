"""What measured moves say: each turned some decisions of a build, and saved so many bytes.

Let F(d) be the margin of decision d, the bytes that inlining its call saves, and s(d) = 1 if a move inlines d and -1 if
it keeps it. For every move,

    bytes saved / MARGIN_BYTES  =  sum over its decisions d of s(d) F(d)  +  noise
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from mlgo.learning.learner import Sample, balance_of
from mlgo.learning.normalization import LEVEL_SCALE
from mlgo.run.exit_codes import ExitCode, RunError

#: Bytes of a margin of 1: about one inlined call. Policies answer with margins up to 8.
MARGIN_BYTES = 16.0


@dataclasses.dataclass(frozen=True)
class Moves:
    """The moves of one iteration. E moves turned R decisions in all; a decision of several moves counts several times.

    Attributes:
      levels: uint8 [R, D], of the decisions, move by move.
      signs: int8 [R], s(d).
      counts: int64 [E], >= 1: the decisions of each move.
      saved: float64 [E], in units of MARGIN_BYTES.
      weights: float64 [E], > 0: one over the number of decisions, for each adds noise; balanced between projects.
      variance: of what one decision is worth: the median of the moves.
    """

    levels: np.ndarray
    signs: np.ndarray
    counts: np.ndarray
    saved: np.ndarray
    weights: np.ndarray
    variance: float

    def sums(self, values: np.ndarray) -> np.ndarray:
        """float64 [E] or [E, ...]: of each move the sum of s(d) `values`(d), which are [R] or [R, ...]."""
        signed = values * self.signs.reshape(-1, *[1] * (values.ndim - 1))
        return np.add.reduceat(signed, np.cumsum(self.counts) - self.counts, axis=0)

    def features(self) -> np.ndarray:
        """float64 [E, D + 1]: what a linear policy's effect is multiplied with, the last column for a constant."""
        return self.sums(np.column_stack([self.levels * LEVEL_SCALE, np.ones(len(self.levels))]))


def measured_moves(samples: Sequence[Sample]) -> Moves:
    """The moves of `samples`.

    Raises: RunError: no move was measured.
    """
    levels, signs, counts, saved, names = [], [], [], [], []
    for sample in samples:
        if sample.observations is None:
            continue
        # Turning "inline" keeps the call.
        sign = np.where(sample.observations.actions > 0, -1, 1).astype(np.int8)
        for move in sample.moves:
            levels.append(sample.observations.levels[move.decisions])
            signs.append(sign[move.decisions])
            counts.append(len(move.decisions))
            saved.append(move.saved_bytes / MARGIN_BYTES)
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
    return Moves(np.concatenate(levels), np.concatenate(signs), np.array(counts), np.array(saved), weights, variance)


def joined(parts: Sequence[Moves]) -> Moves:
    """The moves of several iterations; `variance` is the latest one's. Each part keeps its weights."""
    arrays = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("levels", "signs", "counts", "saved", "weights")
    }
    return Moves(**arrays, variance=parts[-1].variance)


def figures(moves: Moves, predicted: np.ndarray, samples: Sequence[Sample]) -> dict[str, float]:
    """Figures of an update that predicts `predicted`, float64 [E], for `moves` of `samples`."""
    return {
        "moves": float(len(moves.saved)),
        "turned_decisions": float(len(moves.signs)),
        "explained_variance": _explained(moves, predicted),
        "share_of_gain": _share_of_gain(moves.saved, predicted),
        "search_gain": 100.0 * _search_gain(samples),
    }


def _explained(moves: Moves, predicted: np.ndarray) -> float:
    """The part of the weighted squares of what was saved that is predicted."""
    left = moves.weights @ np.square(moves.saved - predicted)
    return float(1.0 - left / max(float(moves.weights @ np.square(moves.saved)), 1e-12))


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
