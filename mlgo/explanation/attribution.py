"""What each feature adds to one decision of a policy.

What is explained is one number per decision: z where it answers yes or no or with a number, and where it chooses, the margin
(logit of its choice minus logit of an alternative). A policy whose z is linear over pieces of features (mlgo/learning/linear_network.py) is
taken apart exactly: the contributions add up to the number. Of any other network, a feature's contribution is what the number loses when
the feature has its typical value in every candidate (occlusion); these need not add up.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from mlgo.explanation.replay import Replay
from mlgo.learning.exact_network import exact_network
from mlgo.learning.linear_network import TOP_LOGIT, WHOLE_PIECE, linear_effect
from mlgo.learning.network import PolicyNetwork
from mlgo.learning.normalization import LEVEL_SCALE, Normalizer
from mlgo.learning.observations import Observations, rows_of

#: What the column is called that tells the asking candidate from the others (Normalizer.mark_last_position).
LAST_POSITION = "(is the last position)"


@dataclasses.dataclass(frozen=True)
class Attribution:
    """Why D decisions came out as they did.

    Attributes:
      features: F names, those that the policy looks at; LAST_POSITION may be the last one.
      contributions: float64 [D, F].
      explained: float64 [D], z or margin as the policy computed it.
      typical: z of a state in which every feature has its typical value: what contributions to a z are counted from; None for margins.
      exact: whether contributions add up to `explained` - (typical or 0), but for z that the policy cuts off at +-TOP_LOGIT.
    """

    features: tuple[str, ...]
    contributions: np.ndarray
    explained: np.ndarray
    typical: float | None
    exact: bool


def attributed_features(normalizer: Normalizer) -> tuple[str, ...]:
    """The features whose contributions are told apart."""
    return (*normalizer.features, *([LAST_POSITION] if normalizer.mark_last_position else []))


def column_features(normalizer: Normalizer) -> np.ndarray:
    """int64 [width]: which of attributed_features each column belongs to."""
    index = {feature: number for number, feature in enumerate(attributed_features(normalizer))}
    columns = [index[column.feature] for column in normalizer.columns]
    return np.array(columns + ([index[LAST_POSITION]] if normalizer.mark_last_position else []), np.int64)


def typical_levels(levels: np.ndarray) -> np.ndarray:
    """uint8 [D]: the level of each feature's median over the rows [M, D], the lower one of two.

    Levels do not decrease with the value, so the median of a feature's levels is the level of its median, in each column.
    """
    return np.partition(levels, (len(levels) - 1) // 2, axis=0)[(len(levels) - 1) // 2]


def attribute(network: PolicyNetwork, replayed: Replay, decisions: Sequence[int], typical: np.ndarray) -> Attribution:
    """Takes `decisions` of `replayed` apart.

    Args:
      decisions: D indices; each choice among them has an alternative.
      typical: as typical_levels, uint8 [width].
    """
    features = attributed_features(network.normalizer)
    of_column = column_features(network.normalizer)
    observations = replayed.observations
    own = np.array([replayed.row_of(n, replayed.policy[n]) for n in decisions], np.int64)
    choosing = observations.kind == "choice"
    other = np.array([replayed.alternative(n) for n in decisions], np.int64) if choosing else None
    explained = replayed.logits[own].astype(np.float64) - (replayed.logits[other] if choosing else 0.0)
    effect = linear_effect(network)
    if effect is not None:
        reference = observations.levels[other] if choosing else typical[None, :]
        way = (observations.levels[own].astype(np.float64) - reference) * LEVEL_SCALE * effect[:-1]
        start = None if choosing else float(np.clip(typical @ (effect[:-1] * LEVEL_SCALE) + effect[-1], -TOP_LOGIT, TOP_LOGIT))
        return Attribution(features, _sums(way, of_column, len(features)), explained, start, True)
    exact = exact_network(network.weights)
    lost = np.empty((len(decisions), len(features)))
    chosen = np.asarray(decisions, np.int64)
    rows, ends = rows_of(observations.offsets, chosen), np.cumsum(np.diff(observations.offsets)[chosen])
    begins = ends - np.diff(observations.offsets)[chosen]
    for feature in range(len(features)):
        levels = observations.levels[rows]
        levels[:, of_column == feature] = typical[of_column == feature]
        logits = exact.row_logits(levels).astype(np.float64)
        without = logits[begins + own - observations.offsets[chosen]]
        if choosing:
            without = without - logits[begins + other - observations.offsets[chosen]]
        lost[:, feature] = explained - without
    start = None if choosing else float(exact.row_logits(typical[None, :])[0])
    return Attribution(features, lost, explained, start, False)


@dataclasses.dataclass(frozen=True)
class Piece:
    """What a linear policy adds to z while a feature goes from `start` to `end`; evenly, and no more outside."""

    feature: str
    start: float
    end: float
    adds: float


def formula(network: PolicyNetwork) -> tuple[float, list[Piece]] | None:
    """A linear policy, whole: (z where all features have their smallest values, what each piece adds); None: it is not linear."""
    effect = linear_effect(network)
    if effect is None:
        return None
    pieces = [Piece(column.feature, column.start, column.end, float(e) * WHOLE_PIECE) for column, e in zip(network.normalizer.columns, effect)]
    if network.normalizer.mark_last_position:
        pieces.append(Piece(LAST_POSITION, 0.0, 1.0, float(effect[-2]) * WHOLE_PIECE))
    return float(effect[-1]), pieces


def has_alternative(observations: Observations, decision: int) -> bool:
    """Whether anything else could have been decided."""
    return observations.kind != "choice" or observations.offsets[decision + 1] - observations.offsets[decision] > 1


def _sums(columns: np.ndarray, of_column: np.ndarray, count: int) -> np.ndarray:
    """float64 [D, count]: sums of the columns [D, width] by what they belong to."""
    result = np.zeros((len(columns), count))
    np.add.at(result.T, of_column, columns.T)
    return result
