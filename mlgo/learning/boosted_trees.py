"""Regression trees on levels, learned by gradient boosting from moves.

All leaves of a tree have the same depth, and all nodes of a depth the same split: column and threshold (symmetric
trees, as in CatBoost: Prokhorenkova et al., "CatBoost: unbiased boosting with categorical features", 2018). A tree of
depth K is then K comparisons and a table of 2^K values, and a network can hold it (tree_network.py).

Each tree is fitted to what the ones before leave of the moves' savings (Friedman, "Greedy function approximation: a
gradient boosting machine", 2001). Splits maximise the gain of the usual second-order approximation, in which every
decision has its move's residual. Leaf values then solve the least squares of the moves themselves, in which a move's
decisions lie in several leaves.
"""

import dataclasses

import numpy as np

from mlgo.learning.moves import Moves
from mlgo.learning.normalization import TOP_LEVEL

_LEVELS = TOP_LEVEL + 1


@dataclasses.dataclass(frozen=True)
class Trees:
    """T trees of depth K.

    Attributes:
      columns: int64 [T, K].
      thresholds: int64 [T, K], in 1 .. TOP_LEVEL: a decision goes right where its level is at least the threshold.
      values: float64 [T, 2^K]; the first split is the highest bit of a leaf's index.
    """

    columns: np.ndarray
    thresholds: np.ndarray
    values: np.ndarray

    def leaves(self, tree: int, levels: np.ndarray) -> np.ndarray:
        """int64 [R]: in which leaf of `tree` each row of `levels`, uint8 [R, D], ends."""
        leaf = np.zeros(len(levels), np.int64)
        for column, threshold in zip(self.columns[tree], self.thresholds[tree]):
            leaf = 2 * leaf + (levels[:, column] >= threshold)
        return leaf

    def margins(self, levels: np.ndarray) -> np.ndarray:
        """float64 [R]: the sum of all trees for each row of `levels`, uint8 [R, D]."""
        total = np.zeros(len(levels))
        for tree in range(len(self.columns)):
            total += self.values[tree][self.leaves(tree, levels)]
        return total


def no_trees(count: int, depth: int) -> Trees:
    """`count` trees of `depth` that answer 0."""
    shape = (count, depth)
    return Trees(np.zeros(shape, np.int64), np.ones(shape, np.int64), np.zeros((count, 2**depth)))


def boost(
    moves: Moves, missing: np.ndarray, weights: np.ndarray, ridge: float, count: int, depth: int, rate: float
) -> Trees:
    """Trees whose sums over the decisions of `moves` approach `missing`.

    Args:
      missing: float64 [E], what the moves save beyond what is known.
      weights: float64 [E], of the moves.
      ridge: by which leaf values are shrunk towards 0, in units of the weights.
      rate: the part of each tree's values that is added, in (0, 1].
    """
    trees = no_trees(count, depth)
    columns = np.ascontiguousarray(moves.levels.T).astype(np.int64)
    move = np.repeat(np.arange(len(moves.counts)), moves.counts)
    curvature = weights[move]
    residual = missing.astype(np.float64)
    for tree in range(count):
        gradient = (weights * residual)[move] * moves.signs
        leaf = np.zeros(len(move), np.int64)
        for level in range(depth):
            column, threshold = _best_split(columns, leaf, 2**level, gradient, curvature, ridge)
            trees.columns[tree, level], trees.thresholds[tree, level] = column, threshold
            leaf = 2 * leaf + (columns[column] >= threshold)
        leaves = 2**depth
        sums = np.bincount(move * leaves + leaf, moves.signs, len(missing) * leaves).reshape(-1, leaves)
        information = sums.T @ (sums * weights[:, None]) + ridge * np.eye(leaves)
        trees.values[tree] = rate * np.linalg.solve(information, sums.T @ (weights * residual))
        residual -= sums @ trees.values[tree]
    return trees


def _best_split(
    columns: np.ndarray, leaf: np.ndarray, leaves: int, gradient: np.ndarray, curvature: np.ndarray, ridge: float
) -> tuple[int, int]:
    """(column, threshold) that gain most over all `leaves` together; the lowest of equals.

    Args:
      columns: int64 [D, R], levels.
      leaf: int64 [R], where each row is before the split.
    """
    best, found = -1.0, (0, 1)
    for column, levels in enumerate(columns):
        code = leaf * _LEVELS + levels
        left = [
            np.bincount(code, values, leaves * _LEVELS).reshape(leaves, _LEVELS).cumsum(axis=1)
            for values in (gradient, curvature)
        ]
        gains = np.zeros(_LEVELS - 1)
        for g, h in ([side[:, :-1] for side in left], [side[:, -1:] - side[:, :-1] for side in left]):
            gains += (np.square(g) / (h + ridge)).sum(axis=0)
        if gains.max() > best:
            best, found = float(gains.max()), (column, int(gains.argmax()) + 1)
    return found
