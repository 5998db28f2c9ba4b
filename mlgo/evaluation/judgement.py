"""What a comparison may claim: better, worse, no difference shown, or too little compared for any of these.

An interval over few modules excludes 0 % too often by chance. In simulations without any effect (3,000 runs; effects of
modules normal, and Student's t with 3 degrees of freedom) the intervals of statistics.py did so in 48 to 51 % of runs
with 2 modules, 24 to 26 % with 3, 12 to 13 % with 4, 7 % with 6, and 6 % with 8, close to the 5 % that they promise.
"""

import dataclasses
import enum

from mlgo.evaluation.statistics import RatioSummary

#: Modules from which on an interval keeps its promise; see above.
MIN_MODULES = 8
#: Changed functions or modules from which on a difference can be more than chance: if all of 6 changed the same way,
#: the two-sided sign test gives 2^-5, 3 %; with 5 it gives 6 %.
MIN_CHANGED = 6


class Claim(enum.Enum):
    """What a comparison says about a policy."""

    BETTER = "better"
    WORSE = "worse"
    NO_DIFFERENCE = "no difference shown"
    TOO_SMALL = "too small for a claim"
    DISAGREEING = "the measures disagree"  # Several measures contradict each other; see verdict.py.


@dataclasses.dataclass(frozen=True)
class Judgement:
    """A claim and its reason.

    Attributes:
      claim: what may be said.
      reason: for TOO_SMALL, what is missing: "only 2 modules were compared, and a claim needs 8"; else "".
    """

    claim: Claim
    reason: str = ""


def judge(low: float, high: float, modules: int, changed: int) -> Judgement:
    """The judgement of a ratio to the default; below 1 is better.

    Args:
      low, high: 95 % interval of the ratio.
      modules: number of modules over which the interval was taken.
      changed: number of functions or modules with a ratio other than 1.
    """
    if modules < MIN_MODULES:
        compared = "1 module was" if modules == 1 else f"{modules} modules were"
        return Judgement(Claim.TOO_SMALL, f"only {compared} compared, and a claim needs {MIN_MODULES}")
    if low <= 1.0 <= high:
        return Judgement(Claim.NO_DIFFERENCE)
    if changed < MIN_CHANGED:
        return Judgement(Claim.TOO_SMALL, f"only {changed} of the scores changed, and a claim needs {MIN_CHANGED}")
    return Judgement(Claim.BETTER if high < 1.0 else Claim.WORSE)


def judge_summary(summary: RatioSummary | None) -> Judgement:
    """The judgement of a comparison; None: nothing was compared."""
    if summary is None:
        return Judgement(Claim.TOO_SMALL, "nothing was compared")
    return judge(summary.low, summary.high, summary.modules, summary.better + summary.worse)
