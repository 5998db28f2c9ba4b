"""Imitation of a search by boosted trees: the margins of decisions are the start's, and trees for what is missing.

As imitate_search, but for the model: trees find by themselves where features matter together, and which values of a
feature differ. They are learned anew by each update, from the moves of the last iterations.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from mlgo.learning.boosted_trees import boost, no_trees
from mlgo.learning.learner import Sample
from mlgo.learning.linear_network import linear_network, preference_below, stated_effect, with_linear_form
from mlgo.learning.move_learner import MoveLearner
from mlgo.learning.moves import Moves, figures, joined, measured_moves
from mlgo.learning.network import PolicyNetwork
from mlgo.learning.tree_network import tree_network

_MOVE_FIELDS = [field.name for field in dataclasses.fields(Moves)]


class ImitateSearchTreesLearner(MoveLearner):
    """Imitation of a search by trees. The first policy is that of the settings' `start`, or else the network to start
    from; `preferred_below` is added to all of them.
    """

    @classmethod
    def network_forms(cls, start: PolicyNetwork, config) -> list[PolicyNetwork]:
        """See `Learner.network_forms`."""
        effect = np.zeros(start.normalizer.width + 1)
        return [*with_linear_form(start), tree_network(start, effect, no_trees(config.trees, config.depth))]

    def prepare(self, network: PolicyNetwork, state: dict[str, np.ndarray]) -> None:
        """See `Learner.prepare`."""
        config, self._network = self.config, network
        setting = "ImitateSearchTreesConfig.preferred_below"
        self._preference = preference_below(network.normalizer, config.preferred_below, setting)
        if not state and config.start:
            self._network = linear_network(network, stated_effect(network.normalizer, config) + self._preference)
        self.updates = int(state.get("updates", 0))
        self._start = np.array(state.get("start", np.zeros(network.normalizer.width + 1)), np.float64)
        remembered = sorted({int(name.partition("/")[0]) for name in state if "/" in name})
        self._memory = [
            Moves(**{name: _as_field(state[f"{number}/{name}"]) for name in _MOVE_FIELDS}) for number in remembered
        ]

    def update(self, iteration: int, samples: Sequence[Sample]) -> dict[str, float]:
        """See `Learner.update`."""
        del iteration
        config = self.config
        latest = measured_moves(samples)
        if not self.updates:
            self._start = self.current_effect(samples) - (self._preference if config.start else 0.0)
        self._memory = [*self._memory, latest][-config.memory :]
        moves = joined(self._memory)
        offset = config.prior * self._start
        trees = boost(
            moves,
            moves.saved - moves.features() @ offset,
            moves.weights,
            1.0 / (config.leaf_deviation**2 * moves.variance),
            config.trees,
            config.depth,
            config.rate,
        )
        self._network = tree_network(self._network, offset + self._preference, trees)
        self.updates += 1
        predicted = latest.features() @ offset + latest.sums(trees.margins(latest.levels))
        return {**figures(latest, predicted, samples), "largest_leaf": float(np.abs(trees.values).max())}

    def state(self) -> dict[str, np.ndarray]:
        """The start, float64 [D + 1], the number of updates, and the remembered moves, field by field."""
        state = {"updates": np.array(self.updates, np.int64), "start": self._start}
        for number, moves in enumerate(self._memory):
            state |= {f"{number}/{name}": np.asarray(getattr(moves, name)) for name in _MOVE_FIELDS}
        return state


def _as_field(array: np.ndarray):
    return array if array.ndim else float(array)
