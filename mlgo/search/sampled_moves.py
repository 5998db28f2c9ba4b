"""A sample of the changes of a build, for a policy that is trained on what they are worth."""

import numpy as np

from mlgo.search.build import Build
from mlgo.search.moves import Move, callee_moves, site_moves


def sampled_moves(build: Build, random: np.random.Generator, unpromising: float) -> list[Move]:
    """Changes of `build` in random order: first those of all calls of a function, then those of single calls.

    A search would try the most promising first. A policy has to know the others too, or it takes them for good ones.

    Args:
      random: what the order, and the choice among the unpromising, is drawn from.
      unpromising: the share of those changes that a search would not try, in [0, 1].
    """
    sampled = []
    for moves_of in (callee_moves, site_moves):
        promising = {move.name for move in moves_of(build)}
        # Sorted, so that the draw does not depend on the order of moves.py.
        moves = sorted(moves_of(build, promising=False), key=lambda move: move.name)
        drawn = random.random(len(moves))
        kept = [move for move, number in zip(moves, drawn) if move.name in promising or number < unpromising]
        sampled += [kept[index] for index in random.permutation(len(kept))]
    return sampled
