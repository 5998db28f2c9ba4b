"""The settings of a training run: what is learned, how, from how much, with which seed."""

import dataclasses
from typing import Any

import gin

from mlgo.compiler.request import CompileLimits
from mlgo.learning.algorithms.registry import algorithm_named

#: What a run may start from; see RunSettings.warm_start.
WARM_STARTS = ("bc", "none", "policy")

#: What a run does when an update leaves the region where its numbers mean anything; see RunSettings.on_divergence.
ON_DIVERGENCE = ("stop", "roll_back")


@gin.configurable
@dataclasses.dataclass(frozen=True)
class RunSettings:
    """What decides the result of a run beside corpus, compiler and vocabulary; every field is part of its identity.

    Attributes:
      problem: a folder below mlgo/problems.
      algorithm: one of mlgo/learning/algorithms/registry.py. Names of earlier versions are accepted.
      reward: of the problem's rewards, where it has several; "": its usual one.
      warm_start: "bc": clone the default heuristic's decisions first, as the papers do; "none": start from random weights;
        "policy": start from a policy that an earlier run has left.
      seed: of everything random, >= 0.
      iterations: how often modules are compiled and learned from, >= 0; the papers: thousands. 80 iterations of eviction at
        the default size take 8 CPU minutes with compile servers: the whole command ends within 6 minutes on 2 cores.
      modules_per_iteration: modules compiled in each iteration, >= 1; the papers: 512 and more.
      validation_modules: modules of the training corpus that are not learned from and choose the policy, >= 1. Fewer than a
        dozen choose by noise.
      validation_interval: iterations between two validations, >= 1.
      max_failure_ratio: which part of a stage's compiles may fail before the run ends, in [0, 1].
      compile_cpu_seconds: CPU time one compile may use.
      on_divergence: "stop": the run ends and says why; "roll_back": it goes on from the best validated weights with the next
        iteration's modules, three times in a row at most.
    """

    problem: str = "regalloc_eviction"
    algorithm: str = "ppo"
    reward: str = ""
    warm_start: str = "bc"
    seed: int = 1
    iterations: int = 80
    modules_per_iteration: int = 12
    validation_modules: int = 16
    validation_interval: int = 5
    max_failure_ratio: float = 0.1
    compile_cpu_seconds: int = CompileLimits.cpu_seconds
    on_divergence: str = "stop"

    def __post_init__(self):
        object.__setattr__(self, "algorithm", algorithm_named(self.algorithm).name)
        lowest = {
            "seed": 0,
            "iterations": 0,
            "modules_per_iteration": 1,
            "validation_modules": 1,
            "validation_interval": 1,
            "compile_cpu_seconds": 1,
        }
        for name, bound in lowest.items():
            if getattr(self, name) < bound:
                raise ValueError(f"RunSettings.{name}={getattr(self, name)}: must be at least {bound}")
        if not 0 <= self.max_failure_ratio <= 1:
            raise ValueError(f"RunSettings.max_failure_ratio={self.max_failure_ratio}: must lie in [0, 1]")
        for name, allowed in (("warm_start", WARM_STARTS), ("on_divergence", ON_DIVERGENCE)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"RunSettings.{name}={getattr(self, name)!r}: must be one of {', '.join(allowed)}")

    @property
    def limits(self) -> CompileLimits:
        """What one compile may use."""
        return CompileLimits(cpu_seconds=self.compile_cpu_seconds)

    def to_json(self) -> dict[str, Any]:
        """Every field by name."""
        return dataclasses.asdict(self)
