"""The verdict on a policy from several measures, which names the measures that it rests on.

Measures can contradict each other: over jq's functions the eviction score was 1.6 % worse while jq executed 1.9 % fewer
instructions, and a policy was 2.6 % better in the geometric mean of its functions and 9 % worse in their weighted sum.
P. J. Fleming and J. J. Wallace, "How not to lie with statistics: the correct way to summarize benchmark results", CACM
29(3), 1986, argue for the mean, and J. E. Smith, "Characterizing computer performance with a single number", CACM
31(10), 1988, for the sum. Where one claims a gain and the other a loss, neither is called a gain here.

Only claims contradict each other. The sign of an estimate whose interval contains 0 % is chance: with a true null as
second measure, a rule by signs rejected 49 % of real gains, and with ten programs 96 %. verdict_test.py simulates both.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from mlgo.evaluation.judgement import Claim, Judgement, judge_summary
from mlgo.evaluation.statistics import RatioSummary, percent_text, summarize_programs
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
            return f"{self.claim.value}: {said}: not a gain"
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

    The measures disagree where one claims a gain and another a loss. Else the headline decides.
    """
    if not evidence:
        return Verdict(Claim.TOO_SMALL, (), "nothing was compared")
    if {Claim.BETTER, Claim.WORSE} <= {each.judgement.claim for each in evidence}:
        return Verdict(Claim.DISAGREEING, tuple(evidence))
    judgement = evidence[0].judgement
    return Verdict(judgement.claim, tuple(evidence), judgement.reason)


def corpus_verdict(
    unit: str,
    mean: RatioSummary | None,
    weighted: WeightedSum | None,
    linked: RatioSummary | None = None,
    counts: Evidence | None = None,
) -> Verdict:
    """The verdict on one policy on one corpus.

    Where the corpus was linked, the code of the image decides: it is what a user gets, and a sum already. Else the
    geometric mean of the scores leads, and the weighted sum and what programs execute may contradict it.

    Args:
      unit: what is compared, "functions" or "modules".
      mean: geometric mean of the ratios; None: nothing was compared.
      weighted: None: there is no sum, or it was not recorded.
      linked: ratio of the image's code; None: nothing was linked.
      counts: what programs executed; None: none was counted.
    """
    evidence = []
    if linked is not None:
        evidence.append(Evidence.of(f"linked code of {linked.modules} modules", linked))
    elif mean is not None:
        evidence.append(Evidence.of(f"the geometric mean of {mean.functions} {unit}", mean))
        if weighted is not None:
            evidence.append(Evidence.of("the weighted sum", weighted.summary))
    return verdict(evidence if counts is None else [*evidence, counts])


def counts_of_corpus(ratios: Mapping[str, float], corpus: str, corpora: int, seed: int) -> Evidence | None:
    """What the executed instructions of programs say of `corpus`; None: no program is of it.

    Programs join as one measure, because some of ten programs get worse under nearly every policy. The count of a
    single program is exact and claims what it shows, about this program.

    Args:
      ratios: program -> ratio of its executed instructions to the default's.
      corpora: how many there are. With one, all programs are of it; with several, a program is of the corpus that has
        its name.
      seed: of the interval over programs.
    """
    own = {program: ratio for program, ratio in ratios.items() if corpora == 1 or program == corpus}
    if len(own) == 1:
        ((program, ratio),) = own.items()
        return Evidence.exact(f"the count of instructions of {program}", ratio)
    if (found := summarize_programs(own, seed)) is None:
        return None
    measure = f"the geometric mean of instructions of {len(own)} programs"
    return Evidence.with_interval(measure, found.geometric_mean, found.low, found.high)


def _says(evidence: Evidence) -> str:
    claim = evidence.judgement.claim
    return f"says {claim.value}" if claim in (Claim.BETTER, Claim.WORSE) else "shows no difference"
