"""Permutation importance of features, and shares of decisions with intervals.

The values of one feature are permuted among the sampled states and the policy decides again. A value of a candidate
goes to another candidate; a value of a state (eviction: progress) goes to another state, for all its candidates. The
candidate at the last position, which needs a register, exchanges values only with its like, because it lacks some
features (is_hint, ...). Permutation breaks correlations, so it produces states that no program has, and of two features
with the same information either may look unimportant.
"""

import dataclasses
from collections.abc import Mapping

import numpy as np

from mlgo.evaluation.statistics import summarize_totals
from mlgo.explanation.queried_policy import LAST_POSITION, QueriedPolicy
from mlgo.explanation.replay import comparable, confidence
from mlgo.learning.exact_network import greedy_decisions
from mlgo.learning.observations import Observations, concatenate
from mlgo.problems.problem import Problem
from mlgo.run.determinism import generator


@dataclasses.dataclass(frozen=True)
class Share:
    """A share of decisions, in [0, 1], with its 95 % bootstrap interval over modules; `count` may be a mean."""

    count: float
    total: int
    modules: int
    share: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class FeatureImportance:
    """The importance of one feature."""

    feature: str
    changed: Share  #: share of decisions that change when it is permuted.
    #: mean loss of the original decision's probability, in [-1, 1]; for continuous decisions the mean change, in units
    #: of the network's output; where only decisions are known, the share of `changed`.
    confidence_lost: float


def share_of(counts: Mapping[str, tuple[float, int]], seed: int) -> Share:
    """The share of all decisions, of module -> (those that count, all). Raises: ValueError: there is no decision."""
    totals = sum(total for _, total in counts.values())
    found = summarize_totals(counts, seed) if totals else None
    if found is None:
        raise ValueError("a share needs at least one decision")
    count = float(sum(count for count, _ in counts.values()))
    return Share(count, totals, found.modules, found.geometric_mean, found.low, found.high)


def importances(
    policy: QueriedPolicy, samples: Mapping[str, Observations], seed: int, repeats: int
) -> list[FeatureImportance]:
    """The importance of every feature that the policy uses, largest first.

    Args: samples: module -> some of its states, with the policy's own decisions.
    """
    sample = concatenate(list(samples.values()))
    module_of = np.repeat(np.arange(len(samples)), [len(part) for part in samples.values()])
    totals = np.bincount(module_of, minlength=len(samples))
    logits = policy.logits(sample)
    before = comparable(greedy_decisions(logits, sample), sample)
    sure = confidence(logits, sample)
    found = []
    for index, feature in enumerate(policy.features):
        if feature == LAST_POSITION:
            continue
        changed, lost = np.zeros(len(sample)), np.zeros(len(sample))
        for repeat in range(repeats):
            random = generator(seed, "permutation", feature, repeat)
            levels = permuted_levels(policy.problem, sample, feature, policy.of_column == index, random)
            logits = policy.logits(dataclasses.replace(sample, levels=levels))
            differs = comparable(greedy_decisions(logits, sample), sample) != before
            changed += differs
            if policy.has_probabilities:
                loss = sure - confidence(logits, sample)
                lost += np.abs(loss) if sample.kind == "continuous" else loss
            else:
                lost += differs
        sums = np.bincount(module_of, changed / repeats, minlength=len(samples))
        counts = {name: (float(s), int(t)) for name, s, t in zip(samples, sums, totals) if t}
        found.append(FeatureImportance(feature, share_of(counts, seed), float(lost.mean() / repeats)))
    return sorted(found, key=lambda each: (-each.changed.share, -each.confidence_lost, each.feature))


def permuted_levels(
    problem: Problem, sample: Observations, feature: str, columns: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """[M, D]: the sample's levels with one feature permuted; `columns` are bool [D]. See the module's docstring."""
    source = np.arange(sample.row_count)
    if sample.kind == "categorical" and problem.observation_spec(feature).element_count == 1:
        source = sample.offsets[:-1][random.permutation(len(sample))][sample.row_observation()]
    elif sample.kind == "categorical":
        is_last = sample.positions == sample.position_count - 1
        for rows in (np.flatnonzero(is_last), np.flatnonzero(~is_last)):
            source[rows] = random.permutation(rows)
    else:
        source = random.permutation(source)
    levels = sample.levels.copy()
    levels[:, columns] = sample.levels[source][:, columns]
    return levels
