"""A change against the default in percent, and how good it is."""

import dataclasses
import enum

from mlgo.evaluation.statistics import RatioSummary
from mlgo.evaluation.verdict import Claim, judge_summary
from mlgo.pages.numbers import number, percent


class Tone(enum.StrEnum):
    """How good a figure is; also its class in the style sheet."""

    BETTER = "better"
    WORSE = "worse"
    EQUAL = "equal"  # Not known to differ.
    PLAIN = "plain"

    @classmethod
    def of(cls, claim: Claim) -> "Tone":
        """The tone of a claim: only a difference has a colour."""
        return {Claim.BETTER: cls.BETTER, Claim.WORSE: cls.WORSE}.get(claim, cls.EQUAL)


@dataclasses.dataclass(frozen=True)
class Change:
    """A change in percent with its 95 % interval; minus is better. `claim`: None: what the interval says."""

    percent: float
    low: float
    high: float
    claim: Claim | None = None

    @classmethod
    def of(cls, summary: RatioSummary) -> "Change":
        claim = judge_summary(summary).claim
        return cls.of_ratios(summary.geometric_mean, summary.low, summary.high, claim)

    @classmethod
    def of_ratios(cls, ratio: float, low: float, high: float, claim: Claim | None = None) -> "Change":
        middle, lowest, highest = (100.0 * (float(value) - 1.0) for value in (ratio, low, high))
        return cls(middle, lowest, highest, claim)

    @property
    def tone(self) -> Tone:
        """BETTER or WORSE where the interval excludes 0 and nothing forbids the claim, else EQUAL."""
        if self.claim is not None:
            return Tone.of(self.claim)
        if self.high < 0.0:
            return Tone.BETTER
        return Tone.WORSE if self.low > 0.0 else Tone.EQUAL

    @property
    def verdict(self) -> str:
        if self.claim in (Claim.TOO_SMALL, Claim.DISAGREEING):
            return self.claim.value
        return {Tone.BETTER: "better", Tone.WORSE: "worse"}.get(self.tone, "not known to differ")

    @property
    def percent_text(self) -> str:
        """ "−1.40 %"."""
        return percent(self.percent)

    @property
    def interval_text(self) -> str:
        """ "−2.10 … −0.70"."""
        return f"{number(self.low, 2, signed=True)} … {number(self.high, 2, signed=True)}"

    @property
    def figures(self) -> str:
        """ "−1.40 % (−2.10 … −0.70)"."""
        return f"{self.percent_text} ({self.interval_text})"


def claim_text(claim: Claim) -> str:
    return "not known to differ" if claim is Claim.NO_DIFFERENCE else claim.value
