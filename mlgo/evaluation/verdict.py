"""The verdict on a policy from several measures, which names the measures that it rests on.

Measures can contradict each other: over jq's functions the eviction score was 1.6 % worse while jq executed 1.9 % fewer
instructions, and a policy was 2.6 % better in the geometric mean of its functions and 9 % worse in their weighted sum.
P. J. Fleming and J. J. Wallace, "How not to lie with statistics: the correct way to summarize benchmark results", CACM
29(3), 1986, argue for the mean, and J. E. Smith, "Characterizing computer performance with a single number", CACM
31(10), 1988, for the sum. Where they contradict each other, neither is called a gain here.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlgo.evaluation.judgement import Claim, Judgement, judge_summary
from mlgo.evaluation.statistics import RatioSummary, percent_text
from mlgo.evaluation.weighted_sum import WeightedSum


@dataclasses.dataclass(frozen=True)
class Evidence:
    """What one measure says.

    Attributes:
      measure: its name in a sentence, such as "the geometric mean of 140 functions".
      ratio, low, high: ratio to the default with its interval; below 1 is better.
      judgement: what it may claim alone.
    """

    measure: str
    ratio: float
    low: float
    high: float
    judgement: Judgement

    @classmethod
    def of(cls, measure: str, summary: RatioSummary) -> "Evidence":
        """The evidence of `summary`."""
        return cls(measure, summary.geometric_mean, summary.low, summary.high, judge_summary(summary))

    @classmethod
    def exact(cls, measure: str, ratio: float) -> "Evidence":
        """The evidence of a count that is the same in every run, such as executed instructions of one program."""
        claim = {-1: Claim.BETTER, 0: Claim.NO_DIFFERENCE, 1: Claim.WORSE}[_direction(ratio)]
        return cls(measure, ratio, ratio, ratio, Judgement(claim))

    @property
    def direction(self) -> int:
        """-1 for better, 1 for worse, 0 where the change rounds to 0.00 %."""
        return _direction(self.ratio)

    def percent(self) -> str:
        """For display: "-1.40 % [-2.10, -0.70]"; without an interval where it has no width."""
        shown = percent_text(self.ratio, self.low, self.high)
        return shown.partition(" [")[0] if self.low == self.high else shown


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Attributes: claim: what is known; evidence: of all measures, the first is the headline; reason: of TOO_SMALL."""

    claim: Claim
    evidence: tuple[Evidence, ...]
    reason: str = ""

    def sentence(self, show: Callable[[Evidence], str] = Evidence.percent) -> str:
        """The verdict and what it rests on. Args: show: the figures of one measure."""
        if not self.evidence:
            return "nothing to compare"
        if self.claim is Claim.DISAGREEING:
            said = ", ".join(f"{each.measure} {_says(each)} ({show(each)})" for each in self.evidence)
            gain = any(each.judgement.claim is Claim.BETTER for each in self.evidence)
            return f"{self.claim.value}: {said}: {'not a gain' if gain else 'not settled'}"
        first, *others = self.evidence
        parts = [f"{self.claim.value} by {first.measure} ({show(first)})"]
        if self.claim is Claim.TOO_SMALL:
            parts = [f"{self.claim.value}: {self.reason}; {first.measure}: {show(first)}"]
            return "; ".join([*parts, *(f"{each.measure}: {show(each)}" for each in others)])
        return "; ".join([*parts, *(f"{each.measure} {self._beside(each)} ({show(each)})" for each in others)])

    def _beside(self, other: Evidence) -> str:
        claim = other.judgement.claim
        if claim in (Claim.BETTER, Claim.WORSE):
            return "agrees" if claim is self.claim else f"says {claim.value}"
        return "alone shows no difference" if self.claim is not Claim.NO_DIFFERENCE else "shows none either"

    def to_json(self) -> dict[str, str]:
        """JSON values: the claim and the sentence."""
        return {"claim": self.claim.value, "sentence": self.sentence()}


def verdict(evidence: Sequence[Evidence]) -> Verdict:
    """The verdict that follows from `evidence`, whose first entry is the headline.

    The measures disagree where one that claims a difference points to one side and any other to the other side. Else
    the headline decides.
    """
    if not evidence:
        return Verdict(Claim.TOO_SMALL, (), "nothing was compared")
    claims = {each.direction for each in evidence if each.judgement.claim in (Claim.BETTER, Claim.WORSE)}
    if claims & {-each.direction for each in evidence if each.direction}:
        return Verdict(Claim.DISAGREEING, tuple(evidence))
    judgement = evidence[0].judgement
    return Verdict(judgement.claim, tuple(evidence), judgement.reason)


def corpus_verdict(
    unit: str,
    mean: RatioSummary | None,
    weighted: WeightedSum | None,
    linked: RatioSummary | None = None,
    counts: Sequence[Evidence] = (),
) -> Verdict:
    """The verdict on one policy on one corpus.

    Where the corpus was linked, the code of the image decides: it is what a user gets, and a sum already. Else the
    geometric mean of the scores leads, and the weighted sum and what programs execute may contradict it.

    Args:
      unit: what is compared, "functions" or "modules".
      mean: geometric mean of the ratios; None: nothing was compared.
      weighted: None: there is no sum, or it was not recorded.
      linked: ratio of the image's code; None: nothing was linked.
      counts: what programs executed, if any was built.
    """
    evidence = []
    if linked is not None:
        evidence.append(Evidence.of(f"linked code of {linked.modules} modules", linked))
    elif mean is not None:
        evidence.append(Evidence.of(f"the geometric mean of {mean.functions} {unit}", mean))
        if weighted is not None:
            evidence.append(Evidence.of("the weighted sum", weighted.summary))
    return verdict([*evidence, *counts])


def count_evidence(run: Mapping[str, Mapping[str, Mapping[str, Any]]], side: str, default: str) -> dict[str, Evidence]:
    """Program -> what its executed instructions say of `side`.

    Args: run: program -> side -> measure -> number, as `run` in the result.json of //mlgo:evaluate_programs.
    """
    found = {}
    for program, sides in run.items():
        new, old = (sides.get(name, {}).get("instructions") for name in (side, default))
        if new and old:
            found[program] = Evidence.exact(f"the count of instructions of {program}", new / old)
    return found


def counts_of_corpus(counts: Mapping[str, Evidence], corpus: str, corpora: int) -> list[Evidence]:
    """The counts that join the verdict on `corpus`.

    Args: counts: by program; corpora: how many there are. With one, all programs are of it; with several, a program is
      of the corpus that has its name.
    """
    return [evidence for program, evidence in counts.items() if corpora == 1 or program == corpus]


def _direction(ratio: float) -> int:
    percent = round(100.0 * (ratio - 1.0), 2)
    return (percent > 0.0) - (percent < 0.0)


def _says(evidence: Evidence) -> str:
    claim = evidence.judgement.claim
    if claim in (Claim.BETTER, Claim.WORSE):
        return f"says {claim.value}"
    return {-1: "points to better", 0: "shows no difference", 1: "points to worse"}[evidence.direction]
