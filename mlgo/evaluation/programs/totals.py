"""Totals over programs: geometric mean of ratios with its interval, arithmetic mean, and worst program."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlgo.evaluation.programs.run_time import BENCHMARK
from mlgo.evaluation.statistics import RatioSummary, ratios_of, spread_of, summarize_programs, tail_share

_RESAMPLES = 2000


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
