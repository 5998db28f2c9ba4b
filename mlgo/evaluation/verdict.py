"""The verdict on a policy from several measures, which names the measures that it rests on.

Of a score, the weighted sum leads, because a function counts in it by what it costs its program's owner; the geometric
mean of its functions is beside it. P. J. Fleming and J. J. Wallace, "How not to lie with statistics: the correct way to
summarize benchmark results", CACM 29(3), 1986, argue for the mean, and J. E. Smith, "Characterizing computer
performance with a single number", CACM 31(10), 1988, for the sum. A policy was 2.6 % better in the geometric mean of
its functions and 9 % worse in their weighted sum: where one claims a gain and the other a loss, neither is called a
gain here.

Only claims contradict each other. The sign of an estimate whose interval contains 0 % is chance: with a true null as
second measure, a rule by signs rejected 49 % of real gains, as verdict_test.py simulates.

An interval over few modules excludes 0 % too often by chance. In simulations without any effect (3,000 runs; effects of
modules normal, and Student's t with 3 degrees of freedom) the intervals of statistics.py did so in 48 to 51 % of runs
with 2 modules, 24 to 26 % with 3, 12 to 13 % with 4, 7 % with 6, and 6 % with 8, close to the 5 % that they promise.
"""

import dataclasses
import enum
from collections.abc import Callable, Mapping, Sequence

from mlgo.evaluation.statistics import RatioSummary, percent_text, summarize_projects
from mlgo.evaluation.weighted_sum import WeightedSum

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
    DISAGREEING = "the measures disagree"  # Several measures contradict each other.


@dataclasses.dataclass(frozen=True)
class Judgement:
    """A claim, and for TOO_SMALL its reason: "only 2 modules were compared, and a claim needs 8"."""

    claim: Claim
    reason: str = ""


def judge(low: float, high: float, modules: int, changed: int) -> Judgement:
    """The judgement of a ratio to the default, whose 95 % interval over `modules` modules ends at `low` and `high`.

    Args: changed: number of functions or modules with a ratio other than 1.
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
    if summary is None:
        return Judgement(Claim.TOO_SMALL, "nothing was compared")
    return judge(summary.low, summary.high, summary.modules, summary.better + summary.worse)


@dataclasses.dataclass(frozen=True)
class Evidence:
    """What one measure says."""

    measure: str  #: its name in a sentence, such as "the geometric mean of 140 functions".
    ratio: float  #: to the default; below 1 is better.
    low: float  #: of the ratio's interval.
    high: float
    judgement: Judgement  #: what it may claim alone.

    @classmethod
    def of(cls, measure: str, summary: RatioSummary) -> "Evidence":
        return cls(measure, summary.geometric_mean, summary.low, summary.high, judge_summary(summary))

    @classmethod
    def with_interval(cls, measure: str, ratio: float, low: float, high: float) -> "Evidence":
        """The evidence of an interval over corpora or programs, which is wide where they are few.

        A change that rounds to 0.00 % is no difference.
        """
        shown = round(100.0 * (ratio - 1.0), 2) != 0.0 and not low <= 1.0 <= high
        claim = Claim.NO_DIFFERENCE if not shown else Claim.BETTER if high < 1.0 else Claim.WORSE
        return cls(measure, ratio, low, high, Judgement(claim))

    @classmethod
    def exact(cls, measure: str, ratio: float) -> "Evidence":
        """The evidence of a count that is the same in every run, such as executed instructions of one program."""
        return cls.with_interval(measure, ratio, ratio, ratio)

    def percent(self) -> str:
        """For display: "-1.40 % [-2.10, -0.70]"; without an interval where it has no width."""
        return percent_text(self.ratio, self.low, self.high)


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What is known."""

    claim: Claim
    evidence: tuple[Evidence, ...]  #: the first one is the headline.
    reason: str = ""  #: of TOO_SMALL.
    code: float | None = None  #: ratio of the bytes of code; None: they are the headline, or unknown.

    def sentence(self, show: Callable[[Evidence], str] = Evidence.percent) -> str:
        """The verdict and what it rests on. Args: show: the figures of one measure."""
        ending = "" if self.code is None else f"; code {show(Evidence.exact('code', self.code))}"
        return self._measures(show) + ending

    def _measures(self, show: Callable[[Evidence], str]) -> str:
        if not self.evidence:
            return "nothing to compare"
        if self.claim is Claim.DISAGREEING:
            said = ", ".join(f"{each.measure} {_says(each)} ({show(each)})" for each in self.evidence)
            return f"{self.claim.value}: {said}: not a gain"
        first, *others = self.evidence
        parts = [f"{self.claim.value} by {first.measure} ({show(first)})"]
        if self.claim is Claim.TOO_SMALL:
            parts = [f"{self.claim.value}: {self.reason}", *(f"{each.measure}: {show(each)}" for each in self.evidence)]
            return "; ".join(parts)
        return "; ".join([*parts, *(f"{each.measure} {self._beside(each)} ({show(each)})" for each in others)])

    def _beside(self, other: Evidence) -> str:
        claim = other.judgement.claim
        if claim in (Claim.BETTER, Claim.WORSE):
            return "agrees" if claim is self.claim else f"says {claim.value}"
        return "alone shows no difference" if self.claim is not Claim.NO_DIFFERENCE else "shows none either"

    def to_json(self) -> dict[str, str]:
        return {"claim": self.claim.value, "sentence": self.sentence()}


def verdict(evidence: Sequence[Evidence], code: float | None = None) -> Verdict:
    """What follows from `evidence`, the headline first: disagreement where one claims a gain and another a loss."""
    if not evidence:
        return Verdict(Claim.TOO_SMALL, (), "nothing was compared", code)
    claims = {each.judgement.claim for each in evidence}
    if {Claim.BETTER, Claim.WORSE} <= claims:
        return Verdict(Claim.DISAGREEING, tuple(evidence), "", code)
    judgement = evidence[0].judgement
    return Verdict(judgement.claim, tuple(evidence), judgement.reason, code)


def corpus_verdict(
    unit: str,
    mean: RatioSummary | None,
    weighted: WeightedSum | None,
    linked: RatioSummary | None = None,
    code: float | None = None,
) -> Verdict:
    """The verdict on one policy on one corpus. None: not measured.

    Where the corpus was linked, the code of the image decides: it is what a user gets, and a sum already. Else the
    weighted sum of the scores decides, then their geometric mean.

    Args: unit: of `mean`, "functions" or "modules"; code: ratio of the objects' code, for a score that is not about
      size.
    """
    if linked is not None:
        return verdict([Evidence.of(f"linked code of {linked.modules} modules", linked)])
    estimates = []
    if weighted is not None:
        estimates.append(Evidence.of(f"the weighted sum of {weighted.summary.functions} {unit}", weighted.summary))
    if mean is not None:
        named = "their geometric mean" if estimates else f"the geometric mean of {mean.functions} {unit}"
        estimates.append(Evidence.of(named, mean))
    return verdict(estimates, code)


def verdict_over_corpora(measures: Mapping[str, Sequence[RatioSummary | None]]) -> Verdict:
    """The verdict over two corpora or more, each of which counts once, because a sum would be that of the largest.

    Args: measures: name -> one summary per corpus; the first one that all corpora have is the headline.
    """
    evidence = []
    for name, summaries in measures.items():
        ratios = {str(index): each.geometric_mean for index, each in enumerate(summaries) if each is not None}
        if len(ratios) == len(summaries) and min(ratios.values()) > 0.0:
            if (whole := summarize_projects(ratios)) is None:
                raise ValueError(f"{len(ratios)} corpora have no interval")
            measure = f"{name} of {len(ratios)} corpora of equal weight"
            evidence.append(Evidence.with_interval(measure, whole.geometric_mean, whole.low, whole.high))
    return verdict(evidence)


def _says(evidence: Evidence) -> str:
    claim = evidence.judgement.claim
    return f"says {claim.value}" if claim in (Claim.BETTER, Claim.WORSE) else "shows no difference"
