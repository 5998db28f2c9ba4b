"""Effect regression: settings and description."""

import dataclasses
import math
from collections.abc import Mapping

import gin

from mlgo.learning.algorithm import Algorithm, check_fields


@gin.configurable
@dataclasses.dataclass(frozen=True)
class EffectConfig:
    """Effect regression's settings. All defaults are ours."""

    samples_per_module: int = 4  #: as PpoConfig's; at least 2.
    #: the exploration rate: the share of decisions that differ from the likeliest one. Measured on inlining: after one
    #: round at 4 % the next policy was better than the default, after one at 15 % it was worse.
    exploration: float = 0.04
    #: weight of the start's logits in the policy, in units of the returns: decisions change if their effect is larger.
    prior: float = 0.1
    step: float = 0.5  #: how far each update moves the policy towards the regression's result, in (0, 1].
    #: the same for the first update. 1: nothing of the start is kept but its `prior`. A run that starts from a policy
    #: of an earlier run takes `step` (mlgo/training/settings.py).
    first_step: float = 1.0
    decay: float = 0.8  #: an iteration's equations have weight decay ^ age.
    #: expected size of the effect of a column, relative to the deviation of a function's return. Estimates that the
    #: data determine less clearly are shrunk towards 0 (ridge regression as a posterior mean).
    effect_deviation: float = 0.3
    #: feature -> what each of its pieces adds to z in the first policy that is explored; {}: the run's warm start.
    #: Choose it so large that the exploration rate is about `exploration`: after a first iteration at 30 %, recovery
    #: took several iterations.
    start: Mapping[str, float] = dataclasses.field(default_factory=dict)
    start_bias: float = 0.0  #: z in the first policy for a decision all of whose features have their smallest values.
    #: feature -> (limit, preference), see `bias_below_threshold`: what the policy prefers without learning it, added to
    #: the logits after they were scaled. Where it exceeds them, the policy neither explores nor learns.
    preferred_below: Mapping[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    #: returns that deviate more than this many deviations from their expectation count linearly (Huber).
    outlier: float = 3.0
    #: whether a function counts less if its returns differ more between the samples. That lowers the noise of the
    #: estimate, but the large effects of few functions then count less than the small ones of many: the sign may be
    #: that of most effects and not of their mean. False: a function counts less only if it has more decisions; with a
    #: large `outlier` signs are then those of means.
    weigh_by_noise: bool = True

    def __post_init__(self):
        object.__setattr__(self, "start", {str(feature): float(value) for feature, value in self.start.items()})
        check_fields(self, positive=("effect_deviation", "outlier"))
        if not (0 < self.step <= 1 and 0 <= self.decay < 1 and self.prior >= 0):
            raise ValueError(
                f"EffectConfig: step={self.step} in (0, 1], decay={self.decay} in [0, 1), prior={self.prior} >= 0"
            )
        if self.samples_per_module < 2:
            raise ValueError(f"EffectConfig.samples_per_module={self.samples_per_module} must be at least 2")
        if not 0 < self.first_step <= 1:
            raise ValueError(f"EffectConfig.first_step={self.first_step} must lie in (0, 1]")
        if not 0 < self.exploration < 0.5:
            raise ValueError(f"EffectConfig.exploration={self.exploration} must lie in (0, 0.5)")
        preferred = {str(feature): tuple(map(float, pair)) for feature, pair in self.preferred_below.items()}
        for feature, pair in preferred.items():
            if len(pair) != 2 or not all(map(math.isfinite, pair)):
                raise ValueError(f"EffectConfig.preferred_below[{feature!r}]={pair!r} must be (limit, preference)")
        object.__setattr__(self, "preferred_below", preferred)


ALGORITHM = Algorithm(
    name="effect_regression",
    title="effect regression",
    config=EffectConfig,
    learner="EffectLearner",
    figures={
        "explained_variance": "Explained variance",
        "largest_effect": "Largest effect, percent of a module",
        "exploration_rate": "Exploration rate: share of decisions that are not the likeliest",
    },
    shown=("explained_variance", "exploration_rate"),
    shared_settings=("linear_policy",),
)
