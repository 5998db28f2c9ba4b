"""Whether a training's policy is better than its start, which decides what the user is offered to install."""

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any

from mlgo.evaluation.comparison import Comparison
from mlgo.evaluation.statistics import percent_text, summarize
from mlgo.evaluation.verdict import Claim, Verdict, corpus_verdict
from mlgo.evaluation.weighted_sum import ScorePair, weighted_sum

#: Seed of the intervals.
_SEED = 1


@dataclasses.dataclass(frozen=True)
class AgainstStart:
    """Attributes: is_better: whether to offer the trained policy rather than the start; sentence: for the user."""

    is_better: bool
    sentence: str


def against_start(
    comparison: Comparison | None, learned: Mapping[str, Any], unit: str, start: pathlib.Path | None
) -> AgainstStart | None:
    """The trained policy against the start, on held-out modules or else by the validation of the iterations.

    Args:
      comparison: the held-out result, if there is one.
      learned: see TrainingRun.learned.
      unit: of a row of it, "functions" or "modules".
      start: the policy that was trained further; None: the training started without one.

    Returns: None: the start was not measured.
    """
    name = "what it started from" if start is None else f"the policy that it started from ({start})"
    if learned["chosen_iteration"] == 0:
        return AgainstStart(False, f"No better than {name}: it is the same, for no iteration was better in validation.")
    if comparison is not None and "warm_start" in comparison.summaries and comparison.rows:
        return _judged(_paired(comparison, unit), name)
    first, chosen = learned["validations"].get("0"), learned["validation_ratio"]
    if comparison is not None or first is None:
        return None
    said = f"in validation: {percent_text(chosen)} against {percent_text(first)}; measure it on other modules"
    return AgainstStart(chosen < first, f"{'Better' if chosen < first else 'No better'} than {name} {said}.")


def _judged(found: Verdict, name: str) -> AgainstStart:
    """A difference that is not shown is told by the sign of the first measure."""
    is_lower = found.evidence[0].ratio < 1.0
    if found.claim is Claim.BETTER:
        return AgainstStart(True, f"Better than {name}: {found.sentence()}.")
    if found.claim in (Claim.WORSE, Claim.DISAGREEING) or not is_lower:
        return AgainstStart(False, f"No better than {name}: {found.sentence()}.")
    return AgainstStart(True, f"Not shown to be better than {name}: {found.sentence()}.")


def _paired(comparison: Comparison, unit: str) -> Verdict:
    """The verdict on the policy against the start, paired by row."""
    ratios: dict[str, list[float]] = {}
    for row in comparison.rows:
        ratios.setdefault(row.module, []).append(row.ratios["policy"] / row.ratios["warm_start"])
    pairs = [
        ScorePair(row.module, row.function, row.scores["warm_start"], row.scores["policy"]) for row in comparison.rows
    ]
    adds_up = all(score >= 0.0 for pair in pairs for score in (pair.default, pair.found))
    sums = weighted_sum(pairs, _SEED, comparison.larger_is_better) if adds_up else None
    return corpus_verdict(unit, summarize(ratios, _SEED), sums)
