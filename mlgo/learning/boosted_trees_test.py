"""Boosted trees find margins in which features matter together, from moves of several decisions."""

import unittest

import numpy as np

from mlgo.learning.boosted_trees import boost, no_trees
from mlgo.learning.moves import Moves


def margin(levels: np.ndarray) -> np.ndarray:
    """Two columns matter together, a third does not."""
    return np.where((levels[:, 0] >= 50) == (levels[:, 1] >= 120), 2.0, -1.0)


def moves_of(count: int, decisions: int, seed: int = 1) -> Moves:
    random = np.random.default_rng(seed)
    levels = random.integers(0, 193, (count * decisions, 3)).astype(np.uint8)
    signs = random.choice([-1, 1], count * decisions).astype(np.int8)
    counts = np.full(count, decisions)
    moves = Moves(levels, signs, counts, np.zeros(count), np.full(count, 1.0 / decisions), 1.0)
    return Moves(levels, signs, counts, moves.sums(margin(levels)), moves.weights, 1.0)


class BoostedTreesTest(unittest.TestCase):
    def test_features_that_matter_together(self):
        unseen = np.random.default_rng(2).integers(0, 193, (1000, 3)).astype(np.uint8)
        for decisions in (1, 3):
            with self.subTest(decisions=decisions):
                moves = moves_of(2000, decisions)
                found = boost(moves, moves.saved, moves.weights, 0.01, count=30, depth=2, rate=0.5)
                error = np.abs(found.margins(unseen) - margin(unseen))
                self.assertLess(np.mean(error), 0.2)

    def test_equal_moves_give_equal_trees(self):
        one, other = (boost(m, m.saved, m.weights, 0.01, 5, 3, 0.5) for m in (moves_of(300, 2), moves_of(300, 2)))
        for name in ("columns", "thresholds", "values"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))

    def test_what_little_data_say_is_shrunk(self):
        moves = moves_of(2, 1)
        found = boost(moves, moves.saved, moves.weights, 1e6, count=3, depth=2, rate=1.0)
        self.assertLess(np.abs(found.values).max(), 1e-5)

    def test_no_trees(self):
        np.testing.assert_array_equal(no_trees(4, 3).margins(np.zeros((2, 5), np.uint8)), [0.0, 0.0])


if __name__ == "__main__":
    unittest.main()
