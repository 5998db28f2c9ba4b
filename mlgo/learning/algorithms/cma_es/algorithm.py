"""CMA-ES: settings and description."""

import dataclasses
from collections.abc import Mapping

import gin

from mlgo.learning.algorithm import Algorithm


@gin.configurable
@dataclasses.dataclass(frozen=True)
class CmaConfig:
    """CMA-ES' settings. Defaults are ours where the tutorial (learner.py) has none.

    Attributes:
      population: candidates in a generation, each of which compiles every module of the iteration. The tutorial's
        default is 4 + 3 log(dimensions), 15 for 40; more candidates find better optima with more compiles.
      sigma: standard deviation of the first candidates, in what a whole piece of a feature adds to z.
      start: feature -> what each of its pieces adds to z in the first mean; other features add 0. Ignored if the run
        starts from a linear policy.
      start_bias: z in the first mean for a decision all of whose features have their smallest values.
      regression_penalty: as EsConfig's.
      project_balance: between 0, where a project weighs as much as its modules together, and 1, where all projects
        weigh the same. The project is the first folder of a module's name in a combined corpus.
    """

    population: int = 16
    sigma: float = 0.3
    start: Mapping[str, float] = dataclasses.field(default_factory=dict)
    start_bias: float = 0.0
    regression_penalty: float = 0.0
    project_balance: float = 0.5

    def __post_init__(self):
        object.__setattr__(self, "start", {str(name): float(value) for name, value in self.start.items()})
        if self.population < 4:
            raise ValueError(f"CmaConfig.population={self.population} must be at least 4")
        if not (self.sigma > 0 and self.regression_penalty >= 0 and 0 <= self.project_balance <= 1):
            raise ValueError(
                f"{self}: sigma must be positive, regression_penalty not negative, project_balance in 0..1"
            )


ALGORITHM = Algorithm(
    name="cma_es",
    title="CMA-ES",
    config=CmaConfig,
    learner="CmaLearner",
    figures={"sigma": "Step size sigma", "axis_ratio": "Ratio of the longest axis to the shortest"},
    shown=("sigma",),
    shared_settings=("linear_policy",),
)
