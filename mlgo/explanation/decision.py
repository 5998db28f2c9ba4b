"""Decisions of a policy with the heuristic's decisions and the contributions of features."""

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np

from mlgo.explanation.attribution import attribute, has_alternative, typical_levels
from mlgo.explanation.queried_policy import LAST_POSITION, QueriedPolicy
from mlgo.explanation.recorded import RecordedDecisions
from mlgo.explanation.replay import Replay
from mlgo.learning.observations import Observations
from mlgo.problems.problem import Problem


@dataclasses.dataclass(frozen=True)
class Reason:
    """The contribution of one feature to one decision."""

    feature: str
    value: float  #: its value, for categorical decisions at the chosen position; of an embedding its Euclidean length.
    #: the reference value: at the alternative for categorical decisions, else typical. None: there is none.
    compared: float | None
    adds: float  #: contribution to z or to the margin.


@dataclasses.dataclass(frozen=True)
class ExplainedDecision:
    """One decision."""

    #: module, function: names.
    module: str
    function: str
    number: int  #: index of the decision in the function, from 0.
    callee: str  #: the called function for inlining; else "".
    #: policy, heuristic: display names of their choices; heuristic None: unknown.
    policy: str
    heuristic: str | None
    differs: bool | None  #: whether they differ; None: unknown.
    probability: float | None  #: of the policy's choice under its distribution; None for continuous decisions.
    heuristic_probability: float | None  #: the policy's probability of the heuristic's choice.
    candidates: int | None  #: number of legal candidates of a categorical decision; else None.
    #: preference for the choice in logits (Replay.margin); None: no alternative, or a continuous decision.
    margin: float | None
    #: the categorical choice that the margin refers to: the heuristic's where it differs, else the second.
    alternative: str
    explained: float | None  #: z or margin, the sum of `reasons`. None: there was no alternative.
    typical: float | None  #: z with typical values of all features, the reference of reasons; None for margins.
    #: features that the policy uses, largest contribution first; they add up to `explained` - (typical or 0).
    reasons: tuple[Reason, ...]
    values: Mapping[str, float]  #: feature -> value, all features, for categorical decisions at the chosen position.


@dataclasses.dataclass(frozen=True)
class Typical:
    """A typical state: lower medians over rows.

    Attributes: levels: [width], see typical_levels; values: feature -> value, NaN taken as infinity.
    """

    levels: np.ndarray
    values: Mapping[str, float]


def typical_of(problem: Problem, recorded: Sequence[RecordedDecisions], samples: Sequence[Observations]) -> Typical:
    """The typical state over all legal candidates. Args: both are of the same states."""
    levels = typical_levels(np.concatenate([sample.levels for sample in samples]))
    values = {}
    for spec in problem.observation_specs:
        found = np.concatenate([_legal_values(problem, each, spec.name) for each in recorded]).astype(np.float64)
        found = np.where(np.isnan(found), np.inf, found)
        values[spec.name] = float(np.partition(found, (len(found) - 1) // 2)[(len(found) - 1) // 2])
    return Typical(levels, values)


def explain(
    policy: QueriedPolicy,
    problem: Problem,
    recorded: RecordedDecisions,
    replayed: Replay,
    decisions: Sequence[int],
    typical: Typical,
) -> list[ExplainedDecision]:
    """Explains some decisions of a module, by their indices; `typical` is the reference unless they are categorical."""
    number_of = {n: number for numbers in recorded.by_function().values() for number, n in enumerate(numbers)}
    open_ones = [n for n in decisions if has_alternative(replayed.observations, n)]
    why = attribute(policy, replayed, open_ones, typical.levels) if open_ones else None
    place = {n: index for index, n in enumerate(open_ones)}
    explained = []
    for n in decisions:
        own, other = replayed.policy[n], None if replayed.heuristic is None else replayed.heuristic[n]
        differs = None if replayed.differs is None else bool(replayed.differs[n])
        choosing = replayed.observations.kind == "categorical"
        alternative = replayed.alternative(n)
        compared = None if alternative is None else int(replayed.observations.positions[alternative])
        values = _values(problem, recorded, n, own)
        against = (
            typical.values if not choosing else {} if compared is None else _values(problem, recorded, n, compared)
        )
        index = place.get(n)
        reasons: tuple[Reason, ...] = ()
        if why is not None and index is not None:
            reasons = _reasons(why.features, why.contributions[index], values, against)
        explained.append(
            ExplainedDecision(
                module=recorded.module,
                function=recorded.function(n),
                number=number_of[n],
                callee=recorded.callee(n),
                policy=problem.choice_name(own),
                heuristic=None if other is None else problem.choice_name(other),
                differs=differs,
                probability=replayed.probability(n, own),
                heuristic_probability=None if other is None else replayed.probability(n, other),
                candidates=int(np.diff(replayed.observations.offsets)[n]) if choosing else None,
                margin=replayed.margin(n),
                alternative="" if compared is None else problem.choice_name(compared),
                explained=None if why is None or index is None else float(why.explained[index]),
                typical=None if why is None or index is None else why.typical,
                reasons=reasons,
                values=values,
            )
        )
    return explained


def _reasons(
    features: Sequence[str], contributions: np.ndarray, values: Mapping[str, float], against: Mapping[str, float]
) -> tuple[Reason, ...]:
    reasons = [
        Reason(feature, values.get(feature, math.nan), against.get(feature), float(adds))
        for feature, adds in zip(features, contributions)
    ]
    return tuple(sorted(reasons, key=lambda reason: (-abs(reason.adds), reason.feature)))


def _values(problem: Problem, recorded: RecordedDecisions, n: int, choice: float) -> dict[str, float]:
    """Feature -> value in one state; at position `choice` for features with one value per position."""
    values = {}
    for spec in problem.observation_specs:
        flat = np.asarray(recorded.features[spec.name][n]).reshape(-1)
        if spec.name in problem.embeddings:
            values[spec.name] = float(_lengths(flat[None])[0])
        else:
            values[spec.name] = float(flat[int(choice) if len(flat) > 1 else 0])
    if problem.mask_feature is not None and problem.action_count is not None:
        values[LAST_POSITION] = float(int(choice) == problem.action_count - 1)
    return values


def _legal_values(problem: Problem, recorded: RecordedDecisions, feature: str) -> np.ndarray:
    flat = np.asarray(recorded.features[feature]).reshape(len(recorded), -1)
    if feature in problem.embeddings:
        return _lengths(flat)
    if problem.mask_feature is None or flat.shape[1] == 1:
        return flat[:, 0]
    return flat[np.asarray(recorded.features[problem.mask_feature]).reshape(flat.shape) > 0]


def _lengths(vectors: np.ndarray) -> np.ndarray:
    """float64 [N]: the Euclidean lengths of [N, dimension]."""
    return np.sqrt(np.square(vectors.astype(np.float64)).sum(axis=1))
