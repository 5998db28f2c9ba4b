"""What a training loop knows of an algorithm: which policies to compile with, and what to do with what came of it.

An iteration compiles each of its modules once under every variant of the learner and hands the results over:

    while learning:
        variants = learner.variants(iteration)
        samples = [compile(module, variant) for module in modules for variant in variants]   # failed compiles give none
        metrics = learner.update(iteration, samples)
        checkpoint(learner.network.weights, learner.state())

Constructing a learner again from these weights and this state, and going on, gives the same bytes as never having stopped.
A learner never compiles, reads no file and no clock; what it draws depends on (seed, iteration, index) alone. Samples must come
in one order whatever the number of workers: by module, then by variant.
"""

import dataclasses
import math
import typing
from collections.abc import Mapping, Sequence

import numpy as np

from mlgo.learning.network import PolicyNetwork
from mlgo.learning.observations import Observations
from mlgo.problems.problem import Problem
from mlgo.run.exit_codes import RunError


@dataclasses.dataclass(frozen=True)
class Variant:
    """A policy that every module of an iteration is compiled under once.

    Attributes:
      network: the weights. Several variants may share one object: it is then converted once.
      exploring: decisions are drawn, with a seed of the compile's own; False: greedy.
    """

    network: PolicyNetwork
    exploring: bool


@dataclasses.dataclass(frozen=True)
class Sample:
    """What one compile under one variant gave.

    Attributes:
      module: the module's name.
      variant: index into the iteration's variants.
      improvement: of the whole module over the default; 0.02 is about two percent better, negative is worse.
      weight: of the module in means, > 0 (for scores per function: the number of functions compared).
      observations: the decisions, packed with the normaliser of the learner's network, whatever the variant's (a policy that
        is imitated may have another); `group` is an index into `contexts`. None where `needs_decisions` is False, or where
        the module has no decision.
      contexts: names of the contexts (functions) of the log; a name may come twice and then means one function.
      improvements: context name -> improvement over the default, uncentred. Contexts without a score are missing, and
        their decisions are not learned from; contexts without decisions may be there and count when returns are centred.
    """

    module: str
    variant: int
    improvement: float
    weight: float
    observations: Observations | None = None
    contexts: tuple[str, ...] = ()
    improvements: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        if not (math.isfinite(self.improvement) and math.isfinite(self.weight) and self.weight > 0):
            raise ValueError(
                f"{self.module}: improvement {self.improvement} and weight {self.weight} > 0 must be finite"
            )
        if self.observations is not None and len(self.observations):
            if not 0 <= self.observations.group.min() <= self.observations.group.max() < len(self.contexts):
                raise ValueError(
                    f"{self.module}: decisions belong to contexts that are not among the {len(self.contexts)} named"
                )


class Learner(typing.Protocol):
    """An algorithm; constructed as `SomeLearner(network, problem, seed, config, state=None)`."""

    @property
    def network(self) -> PolicyNetwork:
        """A copy of the weights that are validated and shipped, greedy."""

    @property
    def needs_decisions(self) -> bool:
        """Whether samples must hold decisions; otherwise scores are enough and nothing need be logged."""

    def variants(self, iteration: int) -> Sequence[Variant]:
        """At least one; a pure function of the learner's weights, state and `iteration`."""

    def update(self, iteration: int, samples: Sequence[Sample]) -> Mapping[str, float]:
        """Learns from the samples of this iteration's variants.

        Returns: figures of this update by name, finite, for the file of metrics.
        Raises:
          DivergenceError: the learner must not be used any more; what was saved before the update is unharmed.
          RunError: nothing can be learned from these samples.
        """

    def state(self) -> dict[str, np.ndarray]:
        """Everything that the next update depends on besides `network.weights`, the seed and the configuration."""


def refuse_numbers(problem: Problem, algorithm: str, why: str) -> None:
    """For learners that want finitely many decisions. Raises: RunError: the problem's decisions are numbers."""
    if problem.decision_kind == "continuous":
        raise RunError(f"{algorithm} for {problem.name}", why, "Train with PPO or evolution strategies")


def balance_of(modules: Sequence[str], weights: Sequence[float] | np.ndarray, balance: float) -> np.ndarray:
    """float64 [M] with mean 1: what to multiply the modules' weights by so that large projects do not outvote small ones.

    Args:
      modules: names; the first folder is the project in a combined corpus.
      weights: positive, one per module.
      balance: at 0 a project weighs as much as its modules together, at 1 as much as any other.
    """
    weights = np.asarray(weights, np.float64)
    _, project = np.unique(np.array([name.partition("/")[0] for name in modules]), return_inverse=True)
    share = np.bincount(project, weights) / weights.sum()
    factors = share[project] ** -balance
    return factors / factors.mean()
