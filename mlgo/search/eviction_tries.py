"""How many allocations of each function a search tries: more of those that cost more, with the same sum.

Half or more of all costs of a corpus are in a few functions, which have many decisions to flip. On sqlite and LLVM's
held-out modules, the square root of the cost takes most of what the sum of the costs can gain and little of the
geometric mean (docs/tune.md).
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence

#: A function gets at most so many times the average.
_MOST = 4
#: Halvings of the interval in which the flips per root of cost are sought: costs differ by many orders of magnitude.
_HALVINGS = 200


@dataclasses.dataclass(frozen=True)
class TryLimits:
    """The tries of each function of a module; `more_flips` at most, further ones of a costly function."""

    noisy: int = 0
    flips: int = 0
    more_flips: int = 0

    @classmethod
    def of_average(cls, tries: int) -> "TryLimits":
        """The limits where functions have so many tries on average, >= 1."""
        # Flips from a better start find more, so most tries are flips.
        noisy, for_all = tries // 4, tries * 2 // 3
        return cls(noisy, for_all - noisy, tries * _MOST - for_all)

    def more_flips_of(self, cost: float, flips_per_root_cost: float) -> int:
        """Further flips of a function that costs `cost` by default, as the compiler computes them."""
        return math.floor(min(float(self.more_flips), flips_per_root_cost * math.sqrt(max(cost, 0.0))))


def flips_per_root_cost(tries: Mapping[str, int], costs: Mapping[str, Sequence[float]]) -> float:
    """The factor with which all functions together have no more than their tries on average.

    Args: tries: module → average, >= 1; costs: module → costs of its functions by default.
    """
    limits = {name: TryLimits.of_average(tries[name]) for name in costs}
    left = sum((tries[name] - limits[name].noisy - limits[name].flips) * len(of) for name, of in costs.items())

    def taken(factor: float) -> int:
        return sum(limits[name].more_flips_of(cost, factor) for name, of in costs.items() for cost in of)

    # With the higher factor every function has as many as it may.
    positive = [(limits[name].more_flips, cost) for name, of in costs.items() for cost in of if cost > 0]
    low, high = 0.0, max((most / math.sqrt(cost) for most, cost in positive), default=0.0)
    if taken(high) <= left:
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if taken(middle) <= left else (low, middle)
    return low
