"""What algorithms with a linear policy share: where the policy starts, and the regression that improves it.

The policy is z = effect . (levels, 1): piecewise linear in every feature, without interactions. linear_network.py
writes it in the form of every other network.
"""

from collections.abc import Sequence

import numpy as np

from mlgo.learning.exact_network import exact_network
from mlgo.learning.learner import Learner
from mlgo.learning.linear_network import linear_effect, linear_network, stated_effect, with_linear_form
from mlgo.learning.network import PolicyNetwork
from mlgo.learning.normalization import LEVEL_SCALE
from mlgo.learning.observations import Observations

#: Rounds of reweighting towards Huber's loss; more change nothing in the third digit.
_ROUNDS = 3
#: Logits of the start count as at most this when the linear policy is fitted to it.
_START_TOP = 3.0


class LinearLearner(Learner):
    """A learner of a linear policy by regularised least squares with a memory of earlier iterations.

    Its settings have `start`, `start_bias`, `decay`, `effect_deviation` and `outlier`, with the meaning that
    EffectConfig gives them.

    Attributes:
      updates: how many there were.
    """

    needs_finite_actions = True

    @classmethod
    def network_forms(cls, start: PolicyNetwork, config) -> list[PolicyNetwork]:
        """See `Learner.network_forms`."""
        del config
        return with_linear_form(start)

    def prepare(self, network: PolicyNetwork, state: dict[str, np.ndarray]) -> None:
        config, self._network = self.config, network
        if not state and config.start:
            self._network = linear_network(network, stated_effect(network.normalizer, config))
        width = network.normalizer.width + 1
        self.updates = int(state.get("updates", 0))
        self._start = np.array(state.get("start", np.zeros(width)), np.float64)
        self._effect = np.array(state.get("effect", np.zeros(width)), np.float64)
        self._information = np.array(state.get("information", np.zeros((width, width))), np.float64)
        self._moment = np.array(state.get("moment", np.zeros(width)), np.float64)

    @property
    def network(self) -> PolicyNetwork:
        """The current policy."""
        return self._network

    def state(self) -> dict[str, np.ndarray]:
        """The start and the effects, float64 [D + 1], the weighted equations of all iterations, and the number of
        updates.
        """
        return {
            "updates": np.array(self.updates, np.int64),
            "start": self._start,
            "effect": self._effect,
            "information": self._information,
            "moment": self._moment,
        }

    def _regress(self, x: np.ndarray, y: np.ndarray, weights: np.ndarray, variance: float) -> tuple[np.ndarray, float]:
        """Adds the equations y = x . effect + noise to those of earlier iterations, and solves all.

        Args:
          x: float64 [E, D + 1].
          y: float64 [E].
          weights: float64 [E], > 0.
          variance: of the noise of a usual equation; the unit of `config.effect_deviation`.

        Returns: (the effect, float64 [D + 1]; the part of the weighted variance of these y that it explains).
        """
        config = self.config
        ridge = 1.0 / (config.effect_deviation**2 * variance)
        estimate = np.zeros(x.shape[1])
        for _ in range(_ROUNDS):
            residual = np.abs(y - x @ estimate) * np.sqrt(weights)
            robust = weights * np.minimum(1.0, config.outlier / np.maximum(residual, 1e-12))
            information = config.decay * self._information + x.T @ (x * robust[:, None])
            moment = config.decay * self._moment + x.T @ (y * robust)
            estimate = np.linalg.solve(information + ridge * np.eye(len(information)), moment)
        self._information, self._moment = information, moment
        left = weights @ np.square(y - x @ estimate)
        return estimate, float(1.0 - left / max(float(weights @ np.square(y)), 1e-12))


def linear_rows(observations: Observations) -> np.ndarray:
    """float64 [M, D + 1]: what a linear policy's effect is multiplied with."""
    return np.column_stack([observations.levels * LEVEL_SCALE, np.ones(observations.row_count)])


def linear_fit(network: PolicyNetwork, seen: Sequence[Observations]) -> np.ndarray:
    """float64 [D + 1]: the linear policy nearest to `network` on the rows `seen`, in least squares."""
    exact = exact_network(network.weights)
    width = network.normalizer.width + 1
    information, moment = np.zeros((width, width)), np.zeros(width)
    for each in seen:
        z = np.clip(exact.row_logits(each.levels).astype(np.float64), -_START_TOP, _START_TOP)
        rows = linear_rows(each)
        if each.kind == "categorical":
            # A term that all candidates of an observation share changes no decision.
            counts = np.diff(each.offsets)
            z = z - np.repeat(np.add.reduceat(z, each.offsets[:-1]) / counts, counts)
            rows = rows - np.repeat(np.add.reduceat(rows, each.offsets[:-1], axis=0) / counts[:, None], counts, axis=0)
        information, moment = information + rows.T @ rows, moment + rows.T @ z
    ridge = 1e-6 * np.trace(information) / len(information)
    return np.linalg.solve(information + ridge * np.eye(len(information)), moment)


def nearest_effect(network: PolicyNetwork, seen: Sequence[Observations]) -> np.ndarray:
    """float64 [D + 1]: the effect of `network`, or of the linear policy nearest to it on the rows `seen`."""
    exact = linear_effect(network)
    # A fit knows nothing of decisions that were not seen.
    return linear_fit(network, seen) if exact is None else exact
