"""The settings of a training run: what is learned, from how much, with which seed."""

import dataclasses
from typing import Any

import gin

from mlgo.compiler.request import CompileLimits


@gin.configurable
@dataclasses.dataclass(frozen=True)
class RunSettings:
    """What decides the result of a run beside corpus, compiler and vocabulary; every field is part of its identity.

    Attributes:
      problem: a folder below mlgo/problems.
      seed: of everything random, >= 0.
      ppo_iterations: how often decisions are collected and learned from, >= 0; the papers: thousands. 80 iterations of the
        default size take 14 CPU minutes, chosen so that the whole command ends within 12 minutes on 2 cores.
      modules_per_iteration: modules compiled in each iteration, >= 1; the papers: 512 and more.
      samples_per_module: how often each of them is compiled in an iteration, every time with other random decisions, >= 1.
        From 2 on a decision's return is how much better its function became than in the other samples, so what is easy
        or hard about the function cancels (Kool et al., "Buy 4 REINFORCE samples, get a baseline for free!", 2019). At 1
        it is the improvement over the default, as in the papers.
      validation_modules: modules of the training corpus that PPO does not see and which choose the policy, >= 1. Fewer
        than a dozen choose by noise.
      validation_interval: iterations between two validations, >= 1.
      max_failure_ratio: which part of a stage's modules may fail before the run ends, in [0, 1].
      compile_cpu_seconds: CPU time one compile may use.
    """

    problem: str = "regalloc_eviction"
    seed: int = 1
    ppo_iterations: int = 80
    modules_per_iteration: int = 12
    samples_per_module: int = 4
    validation_modules: int = 16
    validation_interval: int = 5
    max_failure_ratio: float = 0.1
    compile_cpu_seconds: int = CompileLimits.cpu_seconds

    def __post_init__(self):
        lowest = {
            "seed": 0,
            "ppo_iterations": 0,
            "modules_per_iteration": 1,
            "samples_per_module": 1,
            "validation_modules": 1,
            "validation_interval": 1,
            "compile_cpu_seconds": 1,
        }
        for name, bound in lowest.items():
            if getattr(self, name) < bound:
                raise ValueError(f"RunSettings.{name}={getattr(self, name)}: must be at least {bound}")
        if not 0 <= self.max_failure_ratio <= 1:
            raise ValueError(f"RunSettings.max_failure_ratio={self.max_failure_ratio}: must lie in [0, 1]")

    @property
    def limits(self) -> CompileLimits:
        """What one compile may use."""
        return CompileLimits(cpu_seconds=self.compile_cpu_seconds)

    def to_json(self) -> dict[str, Any]:
        """Every field by name."""
        return dataclasses.asdict(self)
