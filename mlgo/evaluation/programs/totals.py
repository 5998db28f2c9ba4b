"""Totals over programs (geometric mean of ratios with its interval, arithmetic mean, worst program) and the verdicts on
sides: what is gained, and what it costs.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlgo.evaluation.programs.run_time import BENCHMARK
from mlgo.evaluation.sides import best_without_ml, is_without_ml, without_ml_text
from mlgo.evaluation.statistics import RatioSummary, percent_text, ratios_of, spread_of, summarize_programs, tail_share
from mlgo.evaluation.verdict import Evidence, Verdict, verdict

_RESAMPLES = 2000
#: Part of a result -> the measure that it is about, and what that is called.
_JUDGED = {"size": ("code_bytes", "bytes of code"), "run": ("instructions", "executed instructions")}
#: The same -> (part, measure, name) of what the gain may cost.
_COSTS = {
    "size": (("executed", "instructions", "executed instructions"), ("executed", "data_references", "data references")),
    "run": (("run", "data_references", "data references"), ("run", "code_bytes", "bytes of code")),
}

_Totals = Mapping[str, Mapping[str, Mapping[str, Any]]]


def totals(
    table: Mapping[str, Mapping[str, Mapping[str, Any]]], base: str, measures: Sequence[str], seed: int
) -> dict[str, dict[str, Any]]:
    """Side -> measure -> {"programs", "geometric_mean", "low", "high", "mean", "worst": {"program", "ratio"}}.

    Ratios are to `base`. The interval is that of statistics.summarize_programs. From three programs on there is
    "without_best": {"program", "geometric_mean", "low", "high"}, of all but the program with the smallest ratio.

    Args: table: program -> side -> measure -> number > 0 or None.
    """
    sides = sorted({side for of_program in table.values() for side in of_program} - {base})
    found: dict[str, dict[str, Any]] = {}
    for side in sides:
        for measure in measures:
            ratios = ratios_of(table, side, base, measure)
            summary = summarize_programs(ratios, seed)
            if summary is None:
                continue
            worst = max(sorted(ratios), key=lambda program: ratios[program])
            found.setdefault(side, {})[measure] = {
                "programs": summary.functions,
                **_mean(summary),
                "mean": sum(ratios.values()) / len(ratios),
                "worst": {"program": worst, "ratio": ratios[worst]},
            }
            spread = spread_of(ratios, seed)
            if spread is not None and spread.without_best is not None:
                found[side][measure]["without_best"] = {"program": spread.best, **_mean(spread.without_best)}
    return found


def _mean(summary: RatioSummary) -> dict[str, float]:
    return {"geometric_mean": summary.geometric_mean, "low": summary.low, "high": summary.high}


def benchmark_totals(
    rows: Mapping[str, Mapping[str, Mapping[str, Any]]], base: str, seed: int
) -> dict[str, dict[str, Any]]:
    """Program -> side -> as `totals` has for one measure, over the program's benchmarks ("programs" counts these).

    Args: rows: program -> side -> measure -> number; those of benchmarks count, their values are nanoseconds.
    """
    found = {}
    for program, sides in rows.items():
        table: dict[str, dict[str, dict[str, Any]]] = {}
        for side, measures in sides.items():
            for name, value in measures.items():
                if name.startswith(BENCHMARK):
                    table.setdefault(name.removeprefix(BENCHMARK), {})[side] = {BENCHMARK: value}
        if of_program := totals(table, base, [BENCHMARK], seed):
            found[program] = {side: of_side[BENCHMARK] for side, of_side in of_program.items()}
    return found


def timing_ratios(
    times: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]], base: str, seed: int
) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Program -> side -> measure -> {"ratio", "low", "high", "repeats"}: ratio of medians to `base`.

    The interval is a 95 % bootstrap over turns; a turn is drawn for all sides, because its load affects all of them.

    Args: times: program -> side -> measure -> a number > 0 per turn, in the same order on all sides.
    """
    found: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for program, sides in times.items():
        for side in sides:
            if side != base:
                known = [name for name in sides[side] if name in sides[base]]
                measures = {name: _median_ratio(sides[side][name], sides[base][name], seed) for name in known}
                found.setdefault(program, {})[side] = measures
    return found


def _median_ratio(values: Sequence[float], others: Sequence[float], seed: int) -> dict[str, float]:
    pairs = np.maximum(np.array([values, others], np.float64), 1e-9)  # Short runs may have a CPU time of 0.
    generator = np.random.Generator(np.random.Philox(seed))
    drawn = np.median(pairs[:, generator.integers(0, pairs.shape[1], (_RESAMPLES, pairs.shape[1]))], axis=2)
    tail = tail_share(pairs.shape[1])
    low, high = np.quantile(drawn[0] / drawn[1], (tail, 1.0 - tail))
    whole = np.median(pairs, axis=1)
    return {"ratio": float(whole[0] / whole[1]), "low": float(low), "high": float(high), "repeats": pairs.shape[1]}


def _by_side(totals: _Totals, part: str) -> dict[str, float]:
    """Side -> geometric mean of the measure that `part` is about."""
    measure = _JUDGED[part][0]
    return {
        side: of_side[measure]["geometric_mean"] for side, of_side in totals.get(part, {}).items() if measure in of_side
    }


def without_ml(totals: _Totals) -> dict[str, str]:
    """Part -> the best side without a policy, "default" where no option is better; only where options were measured."""
    found = {part: best_without_ml(_by_side(totals, part)) for part in _JUDGED}
    return {part: side for part, side in found.items() if side is not None}


def verdicts(totals: _Totals) -> dict[str, dict[str, dict[str, str]]]:
    """Part -> side -> {"claim", "sentence"}, of the sides that are compilers with policies or other compilers.

    The sentence says the result, the worst program, the mean without the best one, what the compiler reaches without a
    policy, and what the gain costs.
    """
    return {
        part: {side: _described(totals, part, side) for side in _by_side(totals, part) if not is_without_ml(side)}
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
    sentence = "; ".join(parts) + without_ml_text(_by_side(totals, part))
    return {"claim": _judged(total, name).claim.value, "sentence": sentence}


def _judged(total: Mapping[str, Any], name: str) -> Verdict:
    if total["programs"] == 1:
        return verdict([Evidence.exact(f"{name} of {total['worst']['program']}", total["geometric_mean"])])
    measure = f"{name}, geometric mean of {total['programs']} programs"
    return verdict([Evidence.with_interval(measure, total["geometric_mean"], total["low"], total["high"])])


def _shown(total: Mapping[str, Any]) -> str:
    return percent_text(total["geometric_mean"], total["low"], total["high"])
