"""The sum of all scores against the default's, and the few functions that carry it.

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
CARRIERS = 5


#: What sentences leave out because it would be shown as 0: half a percent of a sum, and 0.005 % as a change of it.
_SMALLEST_SHARE, _SMALLEST_CHANGE = 0.005, 0.00005


class ScorePair(NamedTuple):
    """One function, or a module as a whole (`function` is ""): its scores under the default and under the policy."""

    module: str
    function: str
    default: float
    found: float


@dataclasses.dataclass(frozen=True)
class Carrier:
    """A function that carries much of a sum.

    Attributes:
      module, function: names.
      share: of the default's sum, 0 to 1.
      change: by how much it alone changes the sum, as a fraction of the default's sum: 0.01 is one percent more.
    """

    module: str
    function: str
    share: float
    change: float

    @property
    def name(self) -> str:
        """The function, or the module where it is compared as a whole."""
        return self.function or self.module


@dataclasses.dataclass(frozen=True)
class WeightedSum:
    """The sum of all scores against the default's; below 1 is better.

    Attributes:
      summary: ratio of the sums, with an interval over modules.
      heaviest: the CARRIERS functions with the highest scores under the default, highest first.
      heaviest_share: their share of the default's sum.
      movers: the CARRIERS functions that change the sum most in either direction, largest change first.
      movers_share: their share of all changes, regardless of sign; 0 where nothing changes.
    """

    summary: RatioSummary
    heaviest: tuple[Carrier, ...]
    heaviest_share: float
    movers: tuple[Carrier, ...]
    movers_share: float

    def to_json(self) -> dict[str, Any]:
        """JSON values; from_json reads them."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "WeightedSum":
        """Raises: KeyError, TypeError: `content` is not of to_json."""
        heaviest, movers = (tuple(Carrier(**each) for each in content[name]) for name in ("heaviest", "movers"))
        summary = RatioSummary(**content["summary"])
        return cls(summary, heaviest, float(content["heaviest_share"]), movers, float(content["movers_share"]))


def weighted_sum(pairs: Sequence[ScorePair], seed: int, larger_is_better: bool = False) -> WeightedSum | None:
    """The weighted sum of `pairs`; None: there are none, or one side's sum is 0.

    Args:
      seed: of the bootstrap.
      larger_is_better: whether the score is maximised; the ratio is then the default's sum divided by the policy's.
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
    carriers = [
        Carrier(pair.module, pair.function, pair.default / total, sign * (pair.found - pair.default) / total)
        for pair in pairs
    ]
    heaviest = sorted(carriers, key=lambda each: (-each.share, each.module, each.function))[:CARRIERS]
    movers = sorted(carriers, key=lambda each: (-abs(each.change), each.module, each.function))[:CARRIERS]
    movers = [each for each in movers if each.change]
    changed = math.fsum(abs(each.change) for each in carriers)
    return WeightedSum(
        summary,
        tuple(heaviest),
        min(1.0, math.fsum(each.share for each in heaviest)),
        tuple(movers),
        min(1.0, math.fsum(abs(each.change) for each in movers) / changed) if changed else 0.0,
    )


def carrying_sentences(found: WeightedSum, unit: str) -> list[str]:
    """How the sum and its change are spread, in one sentence each. Args: unit: "functions" or "modules"."""
    count = found.summary.functions
    named = [f"{each.name} {_percent(each.share)}" for each in found.heaviest if each.share >= _SMALLEST_SHARE]
    lines = [
        f"{_percent(found.heaviest_share)} of the sum is in {len(found.heaviest)} of {count} {unit}: {', '.join(named)}"
    ]
    named = [
        f"{each.name} {100.0 * each.change:+.2f} %" for each in found.movers if abs(each.change) >= _SMALLEST_CHANGE
    ]
    if named:
        share = f"{_percent(found.movers_share)} of all its changes is in {len(found.movers)} of {count} {unit}"
        lines.append(f"{share}, which change it by: {', '.join(named)}")
    return lines


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"
