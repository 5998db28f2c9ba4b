"""The algorithms a run can learn with, by name. Adding one is adding a line to `ALGORITHMS`."""

import dataclasses
import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlgo.learning.configuration import BcMaxConfig, DqnConfig, EffectConfig, PpoConfig
from mlgo.learning.covariance_adaptation import CmaConfig
from mlgo.learning.evolution import EsConfig
from mlgo.learning.learner import Learner
from mlgo.learning.network import PolicyNetwork
from mlgo.problems.problem import Problem


@dataclasses.dataclass(frozen=True)
class Algorithm:
    """One way to learn.

    Attributes:
      name: as in --algorithm.
      config: the class of its settings, which gin configures.
      module, learner: where its Learner is. Imported when it is made, for it may bring TensorFlow.
      shown: names of the figures of an update that a progress line shows.
      imitates: whether it learns from policies beside the current one (--imitate).
    """

    name: str
    config: type
    module: str
    learner: str
    shown: tuple[str, ...] = ()
    imitates: bool = False

    def make(
        self,
        network: PolicyNetwork,
        problem: Problem,
        seed: int,
        config: Any,
        state: Mapping[str, np.ndarray] | None = None,
        policies: Sequence[PolicyNetwork] = (),
    ) -> Learner:
        """A learner that starts from `network`, or goes on from it with `state`; `policies` only where it imitates."""
        learner = getattr(importlib.import_module(self.module), self.learner)
        return learner(network, problem, seed, config, state, *([policies] if self.imitates else []))


ALGORITHMS: Mapping[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm("ppo", PpoConfig, "mlgo.learning.ppo", "PpoLearner", ("entropy", "kl")),
        Algorithm("es", EsConfig, "mlgo.learning.evolution", "EsLearner"),
        Algorithm("cma_es", CmaConfig, "mlgo.learning.covariance_adaptation", "CmaLearner", ("sigma",)),
        Algorithm("dqn", DqnConfig, "mlgo.learning.dqn", "DqnLearner", ("loss",)),
        Algorithm(
            "effects",
            EffectConfig,
            "mlgo.learning.effect_regression",
            "EffectLearner",
            ("explained_variance", "strays"),
        ),
        Algorithm("bc_max", BcMaxConfig, "mlgo.learning.bc_max", "BcMaxLearner", ("loss",), imitates=True),
    )
}


def algorithm_named(name: str) -> Algorithm:
    """Raises: ValueError: there is none of this name."""
    if name not in ALGORITHMS:
        raise ValueError(f"RunSettings.algorithm={name!r}: must be one of {', '.join(ALGORITHMS)}")
    return ALGORITHMS[name]
