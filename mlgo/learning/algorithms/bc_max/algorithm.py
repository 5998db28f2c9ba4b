"""BC-Max: settings and description, without TensorFlow."""

import dataclasses
from typing import Literal

import gin

from mlgo.learning.algorithm import Algorithm, check_fields
from mlgo.learning.network import DEFAULT_DEVIATION


@gin.configurable
@dataclasses.dataclass(frozen=True)
class BcMaxConfig:
    """BC-Max's settings. Defaults without a source are ours."""

    #: "module": all decisions of the best compile of a module are imitated, as in arXiv:2403.19462, algorithm 1;
    #: "context": the decisions of each function come from the compile that was best for it. The latter is finer, and
    #: right as far as functions do not depend on each other.
    granularity: Literal["module", "context"] = "module"
    #: compiles of each module under the exploring current policy, besides the greedy ones; the exploration policy of
    #: the paper's section 5.
    exploring_samples: int = 3
    #: temperature, deviation: of that exploration, as PpoConfig's.
    temperature: float = 1.0
    deviation: float = DEFAULT_DEVIATION
    memory_modules: int = 256  #: number of modules whose best decisions are remembered, those of the last iterations.
    epochs: int = 2  #: passes over the memory per iteration.
    #: minibatch, learning_rate, adam_epsilon, l2, label_smoothing: as BcConfig's.
    minibatch: int = 256
    learning_rate: float = 1e-3
    adam_epsilon: float = 3.125e-4
    l2: float = 1e-5
    label_smoothing: float = 0.0

    def __post_init__(self):
        if self.granularity not in ("module", "context"):
            raise ValueError(f"BcMaxConfig.granularity={self.granularity!r} is neither module nor context")
        positive = ["temperature", "deviation", "learning_rate", "adam_epsilon"]
        check_fields(self, ("memory_modules", "epochs", "minibatch"), positive)
        if self.exploring_samples < 0 or not 0 <= self.label_smoothing < 1:
            raise ValueError(f"{self}: exploring_samples must not be negative and label_smoothing lie in [0, 1)")


ALGORITHM = Algorithm(
    name="bc_max",
    title="BC-Max",
    config=BcMaxConfig,
    learner="BcMaxLearner",
    figures={"loss": "Loss"},
    shown=("loss",),
    imitates=True,
)
