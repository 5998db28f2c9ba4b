"""The exam's table: what each side changes in the libraries of each language."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

#: Side whose bytes the others are divided by.
_DEFAULT = "default"
#: Measure -> column in the table. The keys of models/exam/exam.bzl.
MEASURES = {
    "linked_code": "linked code",
    "object_code": "object code",
    "functions": "geometric mean of functions",
    "weighted_sum": "weighted sum",
}


def ratio(corpus: Mapping[str, Any], measure: str, side: str) -> float:
    """What `side` has of `measure` in a corpus, divided by what the default has.

    Args: corpus: entry of `corpora` in //mlgo:evaluate's result.json; measure: key of MEASURES.
    """
    if measure == "functions":
        return float(corpus["all_functions"][side]["geometric_mean"])
    if measure == "weighted_sum":
        return float(corpus["weighted_sum"][side]["summary"]["geometric_mean"])
    code = corpus[f"{measure}_bytes"]
    return float(code[side] / code[_DEFAULT])


def cell(ratios: Mapping[str, float]) -> str:
    """One language: the geometric mean of its libraries, the same without the best of them, and the worst."""
    best, worst = min(ratios, key=lambda name: ratios[name]), max(ratios, key=lambda name: ratios[name])
    rest = [value for name, value in ratios.items() if name != best]
    return f"{_percent(_mean(list(ratios.values())))} | {_percent(_mean(rest))} | {_percent(ratios[worst])} ({worst})"


def markdown(result: Mapping[str, Any], languages: Mapping[str, Sequence[str]], measures: Sequence[str]) -> str:
    """The table of an evaluation.

    Args:
      result: content of result.json.
      languages: language -> its libraries, two or more, which are corpora of the result.
      measures: keys of MEASURES.
    Raises: KeyError: the result lacks a library or a measure.
    """
    head = [f"{name} ({len(libraries)}): mean | without the best | worst" for name, libraries in languages.items()]
    lines = ["measure", "side", *head]
    rows = [f"| {' | '.join(lines)} |", f"|{' --- |' * (2 + 3 * len(languages))}"]
    for measure in measures:
        for side in result["order"]["sides"]:
            cells = [
                cell({name: ratio(result["corpora"][name], measure, side) for name in libraries})
                for libraries in languages.values()
            ]
            rows.append(f"| {MEASURES[measure]} | {side} | {' | '.join(cells)} |")
    return "".join(f"{row}\n" for row in rows)


def _mean(ratios: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios))


def _percent(value: float) -> str:
    return f"{(value - 1) * 100:+.2f} %"
