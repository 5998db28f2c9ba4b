"""The results of an evaluation as tables: text, Markdown and CSV."""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

from mlgo.evaluation.corpora.evaluation import CorpusResult
from mlgo.evaluation.sides import DEFAULT, best_without_ml
from mlgo.evaluation.statistics import percent_text
from mlgo.run.tabular import aligned_lines, markdown_head, markdown_row

#: Columns of modules.csv, one row per compared function or module.
COMPARED_COLUMNS = (
    "corpus",
    "policy",
    "module",
    "function",
    "default_decisions",
    "default_score",
    "score",
    "ratio",
    "reward",
    "default_linked_bytes",
    "linked_bytes",
)
#: Columns of functions.csv, one row per function in an object.
FUNCTION_COLUMNS = ("corpus", "policy", "module", "function", "default_code_bytes", "code_bytes")

#: A row of a table, in the order of its columns; None: no value.
Row = tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Regression:
    """A function or module that a policy made worse; `ratio` is above 1."""

    corpus: str
    policy: str
    module: str
    function: str
    default_score: float
    score: float
    ratio: float


def compared_rows(results: Sequence[CorpusResult], sides: Sequence[str]) -> Iterator[Row]:
    """Rows of COMPARED_COLUMNS; `reward` is minus the logarithm of the ratio."""
    for result in results:
        for side in sides:
            for row in result.comparison.rows:
                linked = [
                    result.linked[which].get(row.module) if which in result.linked else None
                    for which in (DEFAULT, side)
                ]
                ratio = row.ratios[side]
                # Decisions are counted only where they are logged.
                decisions = row.decisions if row.function else None
                yield (
                    result.corpus,
                    side,
                    row.module,
                    row.function,
                    decisions,
                    row.default_score,
                    row.scores[side],
                    ratio,
                    -math.log(ratio) or 0.0,
                    *linked,
                )


def function_rows(results: Sequence[CorpusResult], sides: Sequence[str]) -> Iterator[Row]:
    """Rows of FUNCTION_COLUMNS; None: the object of that side does not hold the function."""
    for result in results:
        for side in sides:
            for module, by_default in result.code[DEFAULT].items():
                found = result.code[side][module]
                for function in sorted(by_default.keys() | found.keys()):
                    yield (result.corpus, side, module, function, by_default.get(function), found.get(function))


def worst_regressions(results: Sequence[CorpusResult], sides: Sequence[str], most: int) -> list[Regression]:
    """The `most` rows of each corpus and side with the largest ratios above 1, worst first."""
    found = []
    for result in results:
        for side in sides:
            worse = [
                Regression(result.corpus, side, row.module, row.function, row.default_score, row.scores[side], ratio)
                for row in result.comparison.rows
                if (ratio := row.ratios[side]) > 1.0
            ]
            found += sorted(worse, key=lambda each: (-each.ratio, each.module, each.function))[:most]
    return found


def table_lines(results: Sequence[CorpusResult], sides: Sequence[str], what: str) -> list[str]:
    """The table as aligned text. Args: what: "functions" or "modules", over which sums and means are taken."""
    return aligned_lines([_heads(what, "better/worse/equal"), *_cells(results, sides)])


def markdown(results: Sequence[CorpusResult], sides: Sequence[str], what: str) -> str:
    rows = (markdown_row(cell or "-" for cell in cells) for cells in _cells(results, sides))
    return "\n".join([*markdown_head(_heads(what, "better / worse / equal")), *rows]) + "\n"


def _heads(what: str, counts: str) -> tuple[str, ...]:
    return (
        *("corpus", "policy", "linked code, 95 % interval", f"{what}, weighted sum, 95 % interval"),
        *("geometric mean, 95 % interval", counts, "object code"),
    )


def _cells(results: Sequence[CorpusResult], sides: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for result in results:
        best = best_without_ml(result.headlines)
        for side in sides:
            mean, linked = result.comparison.summaries[side], result.linked_summaries.get(side)
            weighted, code = result.comparison.weighted.get(side), result.object_code(side)
            yield (
                result.corpus,
                f"{side} (best without ML)" if side == best else side,
                linked.percent() + f" ({linked.modules} modules)" if linked else "",
                weighted.summary.percent() if weighted else "",
                mean.percent() if mean else "nothing to compare",
                f"{mean.better}/{mean.worse}/{mean.equal} of {mean.functions}" if mean else "",
                percent_text(code) if code else "",
            )
