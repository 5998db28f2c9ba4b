"""What learners from moves share: which builds are compiled, and the margins that they start from."""

from collections.abc import Sequence

import numpy as np

from mlgo.learning.learner import Learner, MovePlan, Sample, Variant
from mlgo.learning.linear_learner import nearest_effect
from mlgo.learning.network import PolicyNetwork


class MoveLearner(Learner):
    """A learner from changes of the current policy's greedy decisions.

    Its settings have `compiles_per_module`, `compiles_against_policy` and `unpromising`, with the meaning that
    ImitateSearchConfig gives them. `prepare` sets `_network`, the current policy.
    """

    needs_finite_actions = True
    needs_given_decisions = True

    _network: PolicyNetwork

    @property
    def network(self) -> PolicyNetwork:
        """The current policy."""
        return self._network

    @property
    def move_plan(self) -> MovePlan:
        config = self.config
        return MovePlan(config.compiles_per_module, config.compiles_against_policy, config.unpromising)

    def variants(self, iteration: int) -> list[Variant]:
        """The current policy, greedy."""
        del iteration
        return [Variant(self._network, exploring=False)]

    def current_effect(self, samples: Sequence[Sample]) -> np.ndarray:
        """float64 [D + 1]: the effect of the current policy, or of the linear policy nearest to it on `samples`."""
        seen = [sample.observations for sample in samples if sample.observations is not None]
        return nearest_effect(self._network, seen)
