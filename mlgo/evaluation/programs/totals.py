"""What all programs together say: the geometric mean of their ratios with its interval, the plain mean, and the worst of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.evaluation.statistics import summarize


def ratios_of(table: Mapping[str, Mapping[str, Mapping[str, Any]]], side: str, base: str, measure: str) -> dict[str, float]:
    """Program -> the ratio of `measure` on `side` to that on `base`; programs where either is not known do not count."""
    found = {}
    for program, sides in table.items():
        new, old = sides.get(side, {}).get(measure), sides.get(base, {}).get(measure)
        if new is not None and old:
            found[program] = new / old
    return found


def totals(
    table: Mapping[str, Mapping[str, Mapping[str, Any]]], base: str, measures: Sequence[str], seed: int
) -> dict[str, dict[str, Any]]:
    """side -> measure -> {"programs", "geometric_mean", "low", "high", "mean", "worst": {"program", "ratio"}}, ratios to `base`.

    The interval is a 95 % bootstrap over programs: with so few of them it is wide, and says what another program may expect.

    Args: table: program -> side -> measure -> number > 0 or None.
    """
    sides = sorted({side for of_program in table.values() for side in of_program} - {base})
    found: dict[str, dict[str, Any]] = {}
    for side in sides:
        for measure in measures:
            ratios = ratios_of(table, side, base, measure)
            summary = summarize({program: [ratio] for program, ratio in ratios.items()}, seed)
            if summary is None:
                continue
            worst = max(sorted(ratios), key=lambda program: ratios[program])
            found.setdefault(side, {})[measure] = {
                "programs": summary.functions,
                "geometric_mean": summary.geometric_mean,
                "low": summary.low,
                "high": summary.high,
                "mean": sum(ratios.values()) / len(ratios),
                "worst": {"program": worst, "ratio": ratios[worst]},
            }
    return found


def best_threshold(size_totals: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The side among "threshold_N" with the least code in the geometric mean; None: there is none."""
    means = {
        side: of_side["code_bytes"]["geometric_mean"]
        for side, of_side in size_totals.items()
        if side.startswith("threshold_") and "code_bytes" in of_side
    }
    return min(sorted(means), key=lambda side: means[side]) if means else None
