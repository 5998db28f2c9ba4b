"""The sum of all scores against the default's, and the functions that contribute most to it.

A geometric mean counts every function alike; a sum counts each by its score. LLVM's RegAllocScore of a function weighs
instructions by their block's frequency relative to the function's entry (llvm/lib/CodeGen/RegAllocScore.cpp), so a few
functions with deep loops can carry nearly all of the sum: its change then says little about the others, and how often
a function is called is in neither figure.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mlgo.evaluation.statistics import RatioSummary, summarize_sums

#: How many functions are named: the concentration ratio of five, as it is common for shares of markets (OECD, "Glossary
#: of Industrial Organisation Economics", 1993, "concentration").
TOP = 5

#: What sentences leave out because it would be shown as 0: half a percent of a sum, and 0.005 % as a change of it.
_SMALLEST_SHARE, _SMALLEST_CHANGE = 0.005, 0.00005
#: Attribute of WeightedSum -> its key in results.
_KEYS = {
    "summary": "summary",
    "largest_scores": "heaviest",
    "largest_scores_share": "heaviest_share",
    "largest_changes": "movers",
    "largest_changes_share": "movers_share",
}


class ScorePair(NamedTuple):
    """One function, or a module as a whole (`function` is ""): its scores under the default and under the policy."""

    module: str
    function: str
    default: float
    found: float


@dataclasses.dataclass(frozen=True)
class Contributor:
    """A function that contributes much to a sum."""

    module: str
    function: str
    share: float  #: of the default's sum, 0 to 1.
    change: float  #: by how much it alone changes the sum, as a fraction of the default's: 0.01 is one percent more.

    @property
    def name(self) -> str:
        return self.function or self.module


@dataclasses.dataclass(frozen=True)
class WeightedSum:
    """The sum of all scores against the default's; below 1 is better."""

    summary: RatioSummary  #: ratio of the sums, with an interval over modules.
    #: the TOP functions with the largest scores under the default, largest first.
    largest_scores: tuple[Contributor, ...]
    largest_scores_share: float  #: their share of the default's sum.
    #: the TOP functions that change the sum most in either direction, largest change first.
    largest_changes: tuple[Contributor, ...]
    largest_changes_share: float  #: their share of all changes, regardless of sign; 0 where nothing changes.

    def to_json(self) -> dict[str, Any]:
        values = dataclasses.asdict(self)
        return {key: values[name] for name, key in _KEYS.items()}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "WeightedSum":
        """Raises: KeyError, TypeError: `content` is not of to_json."""
        scores, changes = (tuple(Contributor(**each) for each in content[name]) for name in ("heaviest", "movers"))
        summary = RatioSummary(**content["summary"])
        return cls(summary, scores, float(content["heaviest_share"]), changes, float(content["movers_share"]))


def weighted_sum(pairs: Sequence[ScorePair], seed: int, larger_is_better: bool = False) -> WeightedSum | None:
    """The weighted sum of `pairs`; None: there are none, or one side's sum is 0.

    Args: larger_is_better: whether the score is maximised; the ratio is then the default's sum divided by the policy's.
    Raises: ValueError: a score is negative or not finite.
    """
    by_module: dict[str, list[tuple[float, float]]] = {}
    for pair in pairs:
        sides = (pair.default, pair.found) if larger_is_better else (pair.found, pair.default)
        by_module.setdefault(pair.module, []).append(sides)
    summary = summarize_sums(by_module, seed)
    total = math.fsum(pair.default for pair in pairs)
    if summary is None or total <= 0.0:
        return None
    sign = -1.0 if larger_is_better else 1.0
    contributors = [
        Contributor(pair.module, pair.function, pair.default / total, sign * (pair.found - pair.default) / total)
        for pair in pairs
    ]
    scores = sorted(contributors, key=lambda each: (-each.share, each.module, each.function))[:TOP]
    changes = sorted(contributors, key=lambda each: (-abs(each.change), each.module, each.function))[:TOP]
    changes = [each for each in changes if each.change]
    changed = math.fsum(abs(each.change) for each in contributors)
    return WeightedSum(
        summary,
        tuple(scores),
        min(1.0, math.fsum(each.share for each in scores)),
        tuple(changes),
        min(1.0, math.fsum(abs(each.change) for each in changes) / changed) if changed else 0.0,
    )


def contribution_sentences(found: WeightedSum, unit: str) -> list[str]:
    """How the sum and its change are spread, in one sentence each. Args: unit: "functions" or "modules"."""
    count, scores, changes = found.summary.functions, found.largest_scores, found.largest_changes
    named = ", ".join(f"{each.name} {100.0 * each.share:.0f} %" for each in scores if each.share >= _SMALLEST_SHARE)
    share = f"{100.0 * found.largest_scores_share:.0f} %"
    lines = [f"{share} of the sum is in {len(scores)} of {count} {unit}: {named}"]
    shown = [f"{each.name} {100.0 * each.change:+.2f} %" for each in changes if abs(each.change) >= _SMALLEST_CHANGE]
    if shown:
        share = f"{100.0 * found.largest_changes_share:.0f} %"
        of_all = f"{share} of all its changes is in {len(changes)} of {count} {unit}"
        lines.append(f"{of_all}, which change it by: {', '.join(shown)}")
    return lines
