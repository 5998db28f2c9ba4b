"""The verdicts on the sides of an evaluation of programs: what is gained, and what it costs."""

from collections.abc import Mapping
from typing import Any

from mlgo.evaluation.sides import best_without_ml, is_without_ml, without_ml_text
from mlgo.evaluation.statistics import percent_text
from mlgo.evaluation.verdict import Evidence, Verdict, verdict

#: Part of a result -> the measure that it is about, and what that is called.
_JUDGED = {"size": ("code_bytes", "bytes of code"), "run": ("instructions", "executed instructions")}
#: The same -> (part, measure, name) of what the gain may cost.
_COSTS = {
    "size": (("executed", "instructions", "executed instructions"), ("executed", "data_references", "data references")),
    "run": (("run", "data_references", "data references"), ("run", "code_bytes", "bytes of code")),
}

_Totals = Mapping[str, Mapping[str, Mapping[str, Any]]]


def ratios_by_side(totals: _Totals, part: str) -> dict[str, float]:
    """Side -> geometric mean of the measure that `part` is about."""
    measure = _JUDGED[part][0]
    return {
        side: of_side[measure]["geometric_mean"] for side, of_side in totals.get(part, {}).items() if measure in of_side
    }


def without_ml(totals: _Totals) -> dict[str, str]:
    """Part -> the best side without a policy, "default" where no option is better; only where options were measured."""
    found = {part: best_without_ml(ratios_by_side(totals, part)) for part in _JUDGED}
    return {part: side for part, side in found.items() if side is not None}


def verdicts(totals: _Totals) -> dict[str, dict[str, dict[str, str]]]:
    """Part -> side -> {"claim", "sentence"}, of the sides that are compilers with policies or other compilers.

    The sentence says the result, the worst program, the mean without the best one, what the compiler reaches without a
    policy, and what the gain costs.
    """
    return {
        part: {side: _described(totals, part, side) for side in ratios_by_side(totals, part) if not is_without_ml(side)}
        for part in _JUDGED
        if totals.get(part)
    }


def _described(totals: _Totals, part: str, side: str) -> dict[str, str]:
    measure, name = _JUDGED[part]
    total = totals[part][side][measure]
    parts = [_judged(total, name).sentence()]
    if total["programs"] > 1:
        worst = total["worst"]
        parts.append(f"worst {worst['program']} {percent_text(worst['ratio'])}")
    if "without_best" in total:
        parts.append(f"without {total['without_best']['program']}, the best, {_shown(total['without_best'])}")
    unseen = totals.get("unseen", {}).get(part, {}).get(side, {}).get(measure)
    if unseen is not None:
        parts.append(f"{unseen['programs']} that training did not see {_shown(unseen)}")
    for cost_part, cost_measure, cost_name in _COSTS[part]:
        if (cost := totals.get(cost_part, {}).get(side, {}).get(cost_measure)) is not None:
            parts.append(f"{cost_name} {_shown(cost)}")
    sentence = "; ".join(parts) + without_ml_text(ratios_by_side(totals, part))
    return {"claim": _judged(total, name).claim.value, "sentence": sentence}


def _judged(total: Mapping[str, Any], name: str) -> Verdict:
    if total["programs"] == 1:
        return verdict([Evidence.exact(f"{name} of {total['worst']['program']}", total["geometric_mean"])])
    measure = f"{name}, geometric mean of {total['programs']} programs"
    return verdict([Evidence.with_interval(measure, total["geometric_mean"], total["low"], total["high"])])


def _shown(total: Mapping[str, Any]) -> str:
    return percent_text(total["geometric_mean"], total["low"], total["high"])
