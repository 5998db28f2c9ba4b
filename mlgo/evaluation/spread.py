"""How a mean over programs or corpora is spread: the worst of them, and the mean without the best."""

import dataclasses
from collections.abc import Mapping

from mlgo.evaluation.statistics import RatioSummary, percent_text, summarize_programs

#: Programs from which on the mean without the best is taken: without one of two, a single one is left.
MIN_WITHOUT_BEST = 3


@dataclasses.dataclass(frozen=True)
class Spread:
    """Attributes:
    worst, worst_ratio: the program with the largest ratio.
    best: the program with the smallest one.
    without_best: the summary of all but `best`; None: there are fewer than MIN_WITHOUT_BEST.
    """

    worst: str
    worst_ratio: float
    best: str
    without_best: RatioSummary | None

    def text(self) -> str:
        """For display: "worst bzip2 +2.90 %; without brotli, the best, -0.28 % [-0.90, +0.31]"."""
        worst = f"worst {self.worst} {percent_text(self.worst_ratio)}"
        rest = self.without_best
        return worst if rest is None else f"{worst}; without {self.best}, the best, {rest.percent()}"


def spread_of(ratios: Mapping[str, float], seed: int) -> Spread | None:
    """The spread of `ratios`; None: there are fewer than two.

    Args: ratios: program or corpus -> its ratio to the default; seed: of the bootstrap.
    """
    if len(ratios) < 2:
        return None
    by_ratio = sorted(sorted(ratios), key=lambda name: ratios[name])
    best, worst = by_ratio[0], by_ratio[-1]
    rest = {name: ratio for name, ratio in ratios.items() if name != best}
    return Spread(
        worst, ratios[worst], best, summarize_programs(rest, seed) if len(ratios) >= MIN_WITHOUT_BEST else None
    )
