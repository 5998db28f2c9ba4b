"""The interface between a training loop and an algorithm: which policies to compile with, and what to learn from that.

An iteration compiles each of its modules once under every variant of the learner and passes on the results:

    while learning:
        variants = learner.variants(iteration)
        samples = [compile(module, variant) for module in modules for variant in variants]
        metrics = learner.update(iteration, samples)
        checkpoint(learner.network.weights, learner.state())

A learner constructed from these weights and this state continues to the same bytes as one that was never stopped. A
learner never compiles, reads no file and no clock; what it draws depends on (seed, iteration, index) alone. The order
of samples is by module, then by variant, whatever the number of workers.
"""

import abc
import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from mlgo.learning.network import AnyPolicy, PolicyNetwork
from mlgo.learning.observations import Observations
from mlgo.problems.problem import Problem
from mlgo.run.exit_codes import RunError


@dataclasses.dataclass(frozen=True)
class Variant:
    """A policy that every module of an iteration is compiled with once."""

    network: AnyPolicy
    exploring: bool  #: whether decisions are drawn, with a separate seed for each compile; else they are greedy.


@dataclasses.dataclass(frozen=True)
class Sample:
    """The result of one compile under one variant."""

    module: str
    variant: int
    improvement: float  #: of the whole module over the default; 0.02 is about two percent better, negative is worse.
    weight: float  #: of the module in means, > 0. For scores per function: the number of functions compared.
    #: the decisions, packed with the normaliser of the learner's network, even if the variant has another one. `group`
    #: is an index into `contexts`. None if `needs_decisions` is False or the module has no decision.
    observations: Observations | None = None
    #: names of the contexts (functions) of the log. A name that occurs twice means one function.
    contexts: tuple[str, ...] = ()
    #: context name -> what its decisions are credited with, uncentred. Decisions of contexts without a credit are not
    #: learned from. Contexts without decisions count when returns are centred.
    credits: Mapping[str, float] = dataclasses.field(default_factory=dict)
    failed: bool = False  #: a failed compile has no decisions, and counts as the worst (mlgo/training/collection.py).

    def __post_init__(self):
        improvement, weight, count = self.improvement, self.weight, len(self.contexts)
        if not (math.isfinite(improvement) and 0 < weight < math.inf):
            raise ValueError(f"{self.module}: improvement {improvement} and weight {weight} > 0 must be finite")
        if self.observations is not None and len(self.observations):
            if not 0 <= self.observations.group.min() <= self.observations.group.max() < count:
                raise ValueError(f"{self.module}: decisions belong to contexts that are not among the {count} named")


class Learner(abc.ABC):
    """An algorithm that is training a policy. A subclass sets itself up in `prepare`."""

    #: whether samples must hold decisions. If not, scores are enough and compilers need not log.
    needs_decisions: ClassVar[bool] = True
    needs_finite_actions: ClassVar[bool] = False  #: whether the algorithm cannot learn continuous decisions.

    def __init__(
        self,
        network: PolicyNetwork,
        problem: Problem,
        seed: int,
        config: Any,
        state: Mapping[str, np.ndarray] | None = None,
        policies: Sequence[AnyPolicy] = (),
    ):
        """Starts from `network`, or with `state`, what `state()` returned with these weights, continues from there.
        Raises: RunError: the algorithm cannot learn the problem's kind of decision.
        """
        if self.needs_finite_actions and problem.decision_kind == "continuous":
            wrong = f"has continuous decisions, and {type(self).__name__} needs a finite action set"
            raise RunError(f"problem {problem.name}", wrong, "Train with --algorithm=ppo or --algorithm=es")
        self.config, self.problem, self.seed, self.policies = config, problem, seed, tuple(policies)
        self.normalizer = network.normalizer
        self.prepare(network, dict(state or {}))

    @classmethod
    def network_forms(cls, start: PolicyNetwork) -> list[PolicyNetwork]:
        """Networks of all shapes that its policies have when it starts from `start`."""
        return [start]

    @abc.abstractmethod
    def prepare(self, network: PolicyNetwork, state: dict[str, np.ndarray]) -> None:
        """Sets up the weights and everything else that changes. An empty `state` means a fresh start."""

    @property
    @abc.abstractmethod
    def network(self) -> PolicyNetwork:
        """A copy of the current weights; their greedy policy is validated and shipped."""

    @abc.abstractmethod
    def variants(self, iteration: int) -> Sequence[Variant]:
        """At least one; a pure function of the learner's weights, state and `iteration`."""

    @abc.abstractmethod
    def update(self, iteration: int, samples: Sequence[Sample]) -> Mapping[str, float]:
        """Learns from the samples of this iteration's variants; returns finite figures by name, for the metrics file.
        Raises: DivergenceError: the learner must not be used any more; RunError: the samples teach nothing.
        """

    @abc.abstractmethod
    def state(self) -> dict[str, np.ndarray]:
        """Everything that the next update depends on besides `network.weights`, the seed and the configuration."""
