"""Decisions of a policy with the heuristic's decisions and the contributions of features."""

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np

from mlgo.explanation.attribution import attribute, typical_levels
from mlgo.explanation.queried_policy import LAST_POSITION
from mlgo.explanation.replay import Replay


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

    module: str  #: its name, as that of the function.
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
    reasons: Sequence[Reason]
    values: Mapping[str, float]  #: feature -> value, all features, for categorical decisions at the chosen position.


@dataclasses.dataclass(frozen=True)
class Typical:
    """A typical state: lower medians over rows."""

    levels: np.ndarray  #: [width], see typical_levels.
    values: Mapping[str, float]  #: feature -> value, NaN taken as infinity.


def typical_of(replayed: Replay) -> Typical:
    """The typical state over all legal candidates."""
    values = {}
    for spec in replayed.asked.problem.observation_specs:
        found = _legal_values(replayed, spec.name).astype(np.float64)
        found = np.where(np.isnan(found), np.inf, found)
        values[spec.name] = float(np.partition(found, (len(found) - 1) // 2)[(len(found) - 1) // 2])
    return Typical(typical_levels(replayed.observations.levels), values)


def explain(replayed: Replay, decisions: Sequence[int], typical: Typical) -> list[ExplainedDecision]:
    """Explains some decisions of a module, by their indices; `typical` is the reference unless they are categorical."""
    recorded, problem = replayed.recorded, replayed.asked.problem
    number_of = {n: number for numbers in recorded.by_function().values() for number, n in enumerate(numbers)}
    choosing = replayed.observations.kind == "categorical"
    alternatives = {n: replayed.alternative(n) for n in decisions}
    open_ones = [n for n in decisions if not choosing or alternatives[n] is not None]
    why = attribute(replayed, open_ones, typical.levels) if open_ones else None
    place = {n: index for index, n in enumerate(open_ones)}
    explained = []
    for n in decisions:
        own, other = replayed.policy[n], None if recorded.heuristic is None else recorded.heuristic[n]
        alternative = alternatives[n]
        compared = None if alternative is None else int(replayed.observations.positions[alternative])
        values = _values(replayed, n, own)
        against = typical.values if not choosing else {} if compared is None else _values(replayed, n, compared)
        index = None if why is None else place.get(n)
        reasons: list[Reason] = []
        if why is not None and index is not None:
            reasons = [
                Reason(feature, values.get(feature, math.nan), against.get(feature), float(adds))
                for feature, adds in zip(replayed.asked.features, why.contributions[index])
            ]
        explained.append(
            ExplainedDecision(
                module=recorded.module,
                function=recorded.function(n),
                number=number_of[n],
                callee=recorded.callee(n),
                policy=problem.choice_name(own),
                heuristic=None if other is None else problem.choice_name(other),
                differs=None if replayed.differs is None else bool(replayed.differs[n]),
                probability=replayed.probability(n, own),
                heuristic_probability=None if other is None else replayed.probability(n, other),
                candidates=int(np.diff(replayed.rows(n))[0]) if choosing else None,
                margin=replayed.margin(n),
                alternative="" if compared is None else problem.choice_name(compared),
                explained=None if why is None or index is None else float(why.explained[index]),
                typical=None if why is None or index is None else why.typical,
                reasons=sorted(reasons, key=lambda reason: (-abs(reason.adds), reason.feature)),
                values=values,
            )
        )
    return explained


def _values(replayed: Replay, n: int, choice: float) -> dict[str, float]:
    """Feature -> value in one state; at position `choice` for features with one value per position."""
    problem = replayed.asked.problem
    values = {}
    for spec in problem.observation_specs:
        flat = np.asarray(replayed.recorded.features[spec.name][n]).reshape(-1)
        if spec.name in problem.embeddings:
            values[spec.name] = float(_lengths(flat[None])[0])
        else:
            values[spec.name] = float(flat[int(choice) if len(flat) > 1 else 0])
    if problem.mask_feature is not None and problem.action_count is not None:
        values[LAST_POSITION] = float(int(choice) == problem.action_count - 1)
    return values


def _legal_values(replayed: Replay, feature: str) -> np.ndarray:
    problem, features = replayed.asked.problem, replayed.recorded.features
    flat = np.asarray(features[feature]).reshape(len(replayed), -1)
    if feature in problem.embeddings:
        return _lengths(flat)
    if problem.mask_feature is None or flat.shape[1] == 1:
        return flat[:, 0]
    return flat[np.asarray(features[problem.mask_feature]).reshape(flat.shape) > 0]


def _lengths(vectors: np.ndarray) -> np.ndarray:
    """float64 [N]: the Euclidean lengths of [N, dimension]."""
    return np.sqrt(np.square(vectors.astype(np.float64)).sum(axis=1))
