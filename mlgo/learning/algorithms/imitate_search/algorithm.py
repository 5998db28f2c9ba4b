"""Imitation of a search: settings and description."""

import dataclasses
from collections.abc import Mapping

import gin

from mlgo.learning.algorithm import Algorithm
from mlgo.learning.config_checks import check_linear, check_moves


@gin.configurable
@dataclasses.dataclass(frozen=True)
class ImitateSearchConfig:
    """The settings of imitate_search. All defaults are ours.

    Attributes:
      compiles_per_module: of each module in an iteration, at least 2. The first is the policy's.
      compiles_against_policy: those that turn the policy's own decisions; at least 1, and less than
        compiles_per_module. The rest goes to a search (mlgo/search) from the build that these lead to: what is tried
        there is learned from too.
      unpromising: the share of the changes that a search would not try, such as calls of high cost, which are measured
        nevertheless, in [0, 1].
      prior: bytes / 16 that a logit of the start is worth: where nothing was measured, the start decides.
      step: how far each update moves the policy towards the regression's result, in (0, 1].
      decay: an iteration's measurements have weight decay ^ age, in [0, 1).
      effect_deviation: expected size of the effect of a column, relative to the deviation of what a call is worth.
        Effects that the measurements determine less clearly are shrunk towards the start's.
      start: feature -> what each of its pieces adds to z in the first policy; {}: the run's warm start.
      start_bias: z in the first policy for a decision all of whose features have their smallest values.
      outlier: measurements that deviate more than this many deviations from their expectation count linearly (Huber).
        Large, because few changes that save much outweigh many that cost little.
    """

    compiles_per_module: int = 4
    compiles_against_policy: int = 3
    unpromising: float = 0.1
    prior: float = 0.1
    step: float = 0.5
    decay: float = 0.8
    effect_deviation: float = 0.3
    start: Mapping[str, float] = dataclasses.field(default_factory=dict)
    start_bias: float = 0.0
    outlier: float = 10.0

    def __post_init__(self):
        check_linear(self)
        check_moves(self)


ALGORITHM = Algorithm(
    name="imitate_search",
    title="imitation of a search",
    config=ImitateSearchConfig,
    learner="ImitateSearchLearner",
    figures={
        "explained_variance": "Explained variance",
        "share_of_gain": "Share of the measured gain that the regression takes",
        "search_gain": "What the search found beyond the policy, percent of a module",
    },
    shown=("explained_variance", "share_of_gain", "search_gain"),
    shared_settings=("linear_policy",),
)
