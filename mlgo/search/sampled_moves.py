"""A sample of the changes of a build, for a policy that is trained on what they are worth."""

import numpy as np

from mlgo.search.build import Build
from mlgo.search.decision_file import callee_of
from mlgo.search.moves import Move, callee_moves, site_moves


def sampled_moves(build: Build, random: np.random.Generator, unpromising: float) -> list[Move]:
    """Changes of `build` in random order: first those of all calls of a function, then those of single calls.

    A search would try the most promising first. A policy has to know the others too, or it takes them for good ones.

    A single call of a function is not brought in where other calls of it are kept as well. Alone it seldom pays, for
    the function stays; the policy would learn that against what all of them save together.

    Args:
      random: what the order, and the choice among the unpromising, is drawn from.
      unpromising: the share of those changes that a search would not try, in [0, 1].
    """
    whole = callee_moves(build, promising=False)
    brought_in = {callee_of(site) for move in whole for site, inlined in move.flips.items() if inlined}
    single = [move for move in site_moves(build, promising=False) if not _brings_in_one_of(move, brought_in)]
    promising = {move.name for moves_of in (callee_moves, site_moves) for move in moves_of(build)}
    sampled = []
    for moves in (whole, single):
        # Sorted, so that the draw does not depend on the order of moves.py.
        moves = sorted(moves, key=lambda move: move.name)
        drawn = random.random(len(moves))
        kept = [move for move, number in zip(moves, drawn) if move.name in promising or number < unpromising]
        sampled += [kept[index] for index in random.permutation(len(kept))]
    return sampled


def _brings_in_one_of(move: Move, callees: set[str]) -> bool:
    return any(inlined and callee_of(site) in callees for site, inlined in move.flips.items())
