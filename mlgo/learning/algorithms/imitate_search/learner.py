"""Imitation of a search: the bytes that a change of decisions saves are regressed on the features of these decisions.

A move turns decisions of a build: all calls of one function in or out, a single call, or several such changes that a
search took together. It was compiled, so the bytes that it saves are known (moves.py). The margin of a decision is
linear in its features (levels): z = (levels, 1) . effect. The policy inlines where it is positive. A change that pays
only as a whole, as when a function vanishes with its last call, is learned as a whole: only the sum of its margins is
compared with the measurement.

The loss is squared, and the weight of an equation depends on its features and never on what was measured. Then an error
counts by its bytes, and the sign of a margin is that of the mean of what was measured, as is right where mistakes cost
unequally. With weights of one over the bytes, the majority of moves would decide however little they save.

Builds are those of the current policy (Ross, Gordon and Bagnell, "A reduction of imitation learning and structured
prediction to no-regret online learning", 2011: the states that the policy itself reaches), and better ones that the
search reached from there. Decisions unlike all that were measured keep the margin of the start: the regression is of
what is missing to it, shrunk towards 0.
"""

from collections.abc import Sequence

import numpy as np

from mlgo.learning.learner import Sample
from mlgo.learning.linear_learner import LinearLearner
from mlgo.learning.linear_network import linear_network
from mlgo.learning.move_learner import MoveLearner
from mlgo.learning.moves import figures, measured_moves


class ImitateSearchLearner(MoveLearner, LinearLearner):
    """Imitation of a search. The first policy is `ImitateSearchConfig.start`, or else the network to start from."""

    def update(self, iteration: int, samples: Sequence[Sample]) -> dict[str, float]:
        """See `Learner.update`."""
        del iteration
        config = self.config
        moves = measured_moves(samples)
        if not self.updates:
            self._start = self.current_effect(samples)
            self._effect = config.prior * self._start
        offset = config.prior * self._start
        features = moves.features()
        correction, _ = self._regress(features, moves.saved - features @ offset, moves.weights, moves.variance)
        self._effect = (1 - config.step) * self._effect + config.step * (offset + correction)
        self._network = linear_network(self._network, self._effect)
        self.updates += 1
        return {
            **figures(moves, features @ (offset + correction), samples),
            "largest_effect": float(np.abs(correction).max()),
        }
