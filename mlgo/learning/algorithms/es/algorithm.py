"""Evolution strategies: settings and description."""

import dataclasses
from typing import Literal

import gin

from mlgo.learning.algorithm import Algorithm


@gin.configurable
@dataclasses.dataclass(frozen=True)
class EsConfig:
    """Evolution strategies' settings. "mlco": ml-compiler-opt,
    compiler_opt/es/inlining/gin_configs/blackbox_learner.gin.
    """

    #: antithetic pairs in a generation; each module is compiled twice as often. Ours, for two cores; mlco: 100
    #: perturbations, arXiv:1703.03864: 720 to 1,440 workers.
    pairs: int = 8
    #: standard deviation of the changes to every weight. Ours: a search over inlining policies on 379 modules needed
    #: 0.07, and 0.25 diverged; mlco: 0.5, of weights behind other inputs.
    sigma: float = 0.07
    #: Adam's step, or the factor of a plain one. Ours, for tens of generations from a warm start: a step changes
    #: weights by a fraction of sigma; mlco: 0.5 at its sigma of 0.5.
    learning_rate: float = 0.02
    #: "adam" (mlco, arXiv:1703.03864) or "plain": learning_rate x estimated gradient.
    optimizer: Literal["adam", "plain"] = "adam"
    #: decay of the weights per step, relative to the learning rate: theta -= learning_rate * l2 * theta
    #: (arXiv:1703.03864, section 2.1 and its published code, where it is 0.005).
    l2: float = 0.005
    #: number of layers that change, counted from the logits; None: all of them. Ours; fewer weights need fewer
    #: generations and limit what can be found.
    last_layers: int | None = None
    #: improvements below 0 are multiplied by 1 + this. Ours: 0. Policies trained for the mean alone made some small
    #: programs larger.
    regression_penalty: float = 0.0

    def __post_init__(self):
        if self.pairs < 1 or (self.last_layers is not None and self.last_layers < 1):
            raise ValueError(f"EsConfig: pairs={self.pairs} and last_layers={self.last_layers} must be at least 1")
        if not (self.sigma > 0 and self.learning_rate > 0 and self.l2 >= 0 and self.regression_penalty >= 0):
            raise ValueError(
                f"{self}: sigma and learning_rate must be positive, l2 and regression_penalty not negative"
            )
        if self.optimizer not in ("adam", "plain"):
            raise ValueError(f"EsConfig.optimizer={self.optimizer!r} is neither adam nor plain")


ALGORITHM = Algorithm(name="es", title="evolution strategies", config=EsConfig, learner="EsLearner")
