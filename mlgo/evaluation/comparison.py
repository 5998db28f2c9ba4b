"""Compares sides with the compiler's default on the functions or modules of a corpus, which each side compiled.

The held-out stage of training, //mlgo:evaluate and //mlgo:evaluate_stock are measures of it: they bring the records.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlgo.evaluation.sides import DEFAULT
from mlgo.evaluation.statistics import RatioSummary, summarize
from mlgo.evaluation.weighted_sum import ScorePair, WeightedSum, weighted_sum
from mlgo.run.tabular import encode_csv
from mlgo.score.score import FunctionScores
from mlgo.trace.outcomes import ModuleRecord, Outcome


@dataclasses.dataclass(frozen=True)
class FunctionRow:
    """One function that every side compiled with decisions."""

    module: str
    function: str
    decisions: int  #: of the default.
    default_score: float
    scores: Mapping[str, float]  #: by policy name.
    ratios: Mapping[str, float]  #: to the default's score, by policy name; below 1 is better.
    seen: bool  #: whether training compiled a function of this name, such as a template of a shared header.


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The result of `compare`."""

    rows: Sequence[FunctionRow]  #: one per compared function, sorted by module and function.
    summaries: Mapping[str, RatioSummary | None]  #: over all rows, by policy name; None when there is no row.
    unseen: Mapping[str, RatioSummary | None]  #: over the rows that training did not see, by policy name.
    failed: Mapping[str, str]  #: module that failed on one side -> "SIDE: KIND".
    unmatched: int  #: functions without a decision on one side; they are not compared.
    #: sum of all scores against the default's, by policy name; None when there is none.
    weighted: Mapping[str, WeightedSum | None] = dataclasses.field(default_factory=dict)
    larger_is_better: bool = False

    def to_json(self) -> dict[str, Any]:
        def described(summaries: Mapping[str, RatioSummary | None]) -> dict[str, Any]:
            return {name: summary and dataclasses.asdict(summary) for name, summary in summaries.items()}

        return {
            "all_functions": described(self.summaries),
            "functions_unseen_in_training": described(self.unseen),
            "weighted_sum": {name: found and found.to_json() for name, found in self.weighted.items()},
            "failed_modules": dict(self.failed),
            "unmatched_functions": self.unmatched,
        }


def compare(
    sides: Mapping[str, Mapping[str, ModuleRecord]],
    compared: Callable[[str, FunctionScores], FunctionScores],
    ratio: Callable[[float, float], float],
    seed: int,
    seen_functions: frozenset[str] = frozenset(),
    larger_is_better: bool = False,
) -> Comparison:
    """Compares sides with the default, function by function or module by module, as `compared` says.

    A module that failed on one side is left out on all sides, so every side is measured on the same functions.

    Args:
      sides: name -> module -> record, of the same modules; among them is DEFAULT.
      compared: the scores of a module that are compared one by one, as in CorpusScore.comparison_rows.
      ratio: of a score to the default's, as in Score.ratio: called with the default's score first; below 1 is better.

    Raises: ValueError: the sides have different modules.
    """
    default = sides[DEFAULT]
    if any(set(side) != set(default) for side in sides.values()):
        raise ValueError("the sides of a comparison have different modules")
    failed = {}
    for module in sorted(default):
        records = {name: side[module] for name, side in sides.items()}
        kinds = [f"{name}: {r.failure_kind}" for name, r in records.items() if r.outcome is Outcome.FAILED]
        if kinds:
            failed[module] = ", ".join(kinds)
    others = [name for name in sides if name != DEFAULT]
    rows, unmatched = [], 0
    for module in sorted(set(default) - set(failed)):
        tables = {name: compared(module, side[module].functions) for name, side in sides.items()}
        for function in sorted(set().union(*tables.values())):
            if not all(function in table for table in tables.values()):
                unmatched += 1
                continue
            base, seen = tables[DEFAULT][function], function in seen_functions
            scores = {name: tables[name][function].score for name in others}
            ratios = {name: ratio(base.score, found) for name, found in scores.items()}
            rows.append(FunctionRow(module, function, base.decisions, base.score, scores, ratios, seen))
    unseen = [row for row in rows if not row.seen]
    return Comparison(
        rows=rows,
        summaries={name: _summary(rows, name, seed) for name in others},
        unseen={name: _summary(unseen, name, seed) for name in others},
        failed=failed,
        unmatched=unmatched,
        weighted={name: weighted_sum(score_pairs(rows, name), seed, larger_is_better) for name in others},
        larger_is_better=larger_is_better,
    )


def score_pairs(rows: Sequence[FunctionRow], policy: str) -> list[ScorePair]:
    """The scores under the default and under `policy`, one pair per row."""
    return [ScorePair(row.module, row.function, row.default_score, row.scores[policy]) for row in rows]


def rows_to_csv(rows: Sequence[FunctionRow], policies: Sequence[str]) -> bytes:
    """The rows as CSV: module, function, decisions, scores and ratios of each policy, seen in training."""
    of_policies = [f"{name}_{what}" for name in policies for what in ("score", "ratio")]
    columns = ["module", "function", "default_decisions", "default_score", *of_policies, "seen_in_training"]

    def cells(row: FunctionRow) -> list[Any]:
        values = [value for name in policies for value in (row.scores[name], row.ratios[name])]
        return [row.module, row.function, row.decisions, row.default_score, *values, int(row.seen)]

    return encode_csv(columns, map(cells, rows))


def _summary(rows: Sequence[FunctionRow], policy: str, seed: int) -> RatioSummary | None:
    ratios: dict[str, list[float]] = {}
    for row in rows:
        ratios.setdefault(row.module, []).append(row.ratios[policy])
    return summarize(ratios, seed)
