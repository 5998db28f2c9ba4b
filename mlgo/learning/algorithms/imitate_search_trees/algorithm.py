"""Imitation of a search by boosted trees: settings and description."""

import dataclasses
from collections.abc import Mapping

import gin

from mlgo.learning.algorithm import Algorithm
from mlgo.learning.config_checks import check_fields, check_moves, checked_preferences
from mlgo.learning.normalization import TOP_LEVEL


@gin.configurable
@dataclasses.dataclass(frozen=True)
class ImitateSearchTreesConfig:
    """The settings of imitate_search_trees. All defaults are ours.

    Attributes:
      compiles_per_module, compiles_against_policy, unpromising, prior, start, start_bias: as ImitateSearchConfig's.
      preferred_below: as EffectConfig's: what the policy prefers without learning it, added to the margins.
      trees: how many there are; each update learns all of them anew.
      depth: splits from the root of a tree to a leaf, 1 to 4.
      rate: the part of each tree's values that is added, in (0, 1].
      memory: iterations whose measurements are learned from, at least 1.
      leaf_deviation: expected size of a leaf's value, relative to the deviation of what a call is worth. Leaves that
        the measurements determine less clearly are shrunk towards 0.
    """

    compiles_per_module: int = 4
    compiles_against_policy: int = 3
    unpromising: float = 0.1
    prior: float = 0.1
    start: Mapping[str, float] = dataclasses.field(default_factory=dict)
    start_bias: float = 0.0
    preferred_below: Mapping[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    trees: int = 40
    depth: int = 2
    rate: float = 0.2
    memory: int = 4
    leaf_deviation: float = 0.3

    def __post_init__(self):
        check_moves(self)
        check_fields(self, at_least_one=("trees", "depth", "memory"), positive=("rate", "leaf_deviation"))
        object.__setattr__(self, "start", {str(feature): float(value) for feature, value in self.start.items()})
        object.__setattr__(self, "preferred_below", checked_preferences(self))
        if self.prior < 0 or self.rate > 1 or self.depth > 4 or self.trees > TOP_LEVEL:
            raise ValueError(
                f"ImitateSearchTreesConfig: prior={self.prior} >= 0, rate={self.rate} <= 1, depth={self.depth} <= 4,"
                f" trees={self.trees} <= {TOP_LEVEL}"
            )


ALGORITHM = Algorithm(
    name="imitate_search_trees",
    title="imitation of a search by trees",
    config=ImitateSearchTreesConfig,
    learner="ImitateSearchTreesLearner",
    figures={
        "explained_variance": "Explained variance",
        "share_of_gain": "Share of the measured gain that the trees take",
        "search_gain": "What the search found beyond the policy, percent of a module",
    },
    shown=("explained_variance", "share_of_gain", "search_gain"),
    shared_settings=("linear_policy",),
)
