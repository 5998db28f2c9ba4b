"""What the compiler reaches by its own options, which a policy should beat: the same without machine learning."""

from collections.abc import Mapping

from mlgo.evaluation.callee_saved_costs import side_and_cost
from mlgo.evaluation.corpora.inline_thresholds import threshold_of
from mlgo.evaluation.statistics import percent_text

#: Names of a side without a policy and without further options; results of earlier versions have the second.
_PLAIN = ("default", "packaged")


def is_without_ml(side: str) -> bool:
    """Whether `side` is the heuristic with another threshold, or with a cost of callee-saved registers."""
    of_cost = side_and_cost(side)
    return threshold_of(side) is not None or (of_cost is not None and of_cost[0] in _PLAIN)


def best_without_ml(ratios: Mapping[str, float]) -> str | None:
    """The best side without a policy; "default" where no option is better than it; None: no option was measured.

    Args: ratios: side -> its ratio to the default; sides with a policy do not count.
    """
    options = {side: ratio for side, ratio in ratios.items() if is_without_ml(side)}
    if not options:
        return None
    best = min(options, key=lambda side: options[side])
    return best if options[best] < 1.0 else _PLAIN[0]


def without_ml_text(ratios: Mapping[str, float]) -> str:
    """For the end of a sentence: "; the same without ML: threshold_15 -0.80 %"; "": no option was measured.

    Args: as of best_without_ml.
    """
    if (best := best_without_ml(ratios)) is None:
        return ""
    if best == _PLAIN[0]:
        return "; the same without ML: the default, for no option that was measured is better"
    return f"; the same without ML: {best} {percent_text(ratios[best])}"
