"""The results of an evaluation as tables: for people, for documents, and as CSV and Parquet for other programs."""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

from mlgo.evaluation.corpora.evaluation import CorpusResult
from mlgo.evaluation.corpora.sides import DEFAULT
from mlgo.run.tabular import aligned_lines, markdown_head, markdown_row

#: modules.csv: what the geometric mean is over, functions or modules. Column -> how it is stored in Parquet (pyarrow's names).
COMPARED_COLUMNS = {
    "corpus": "string",
    "policy": "string",
    "module": "string",
    "function": "string",
    "default_decisions": "int64",
    "default_score": "double",
    "score": "double",
    "ratio": "double",
    "reward": "double",
    "default_linked_bytes": "int64",
    "linked_bytes": "int64",
}
#: functions.csv: every function that a side's object holds, with its size.
FUNCTION_COLUMNS = {
    "corpus": "string",
    "policy": "string",
    "module": "string",
    "function": "string",
    "default_code_bytes": "int64",
    "code_bytes": "int64",
}

#: A row of a table, in the order of its columns; None: there is no such number.
Row = tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Regression:
    """A function or module that a policy made worse. `ratio` is of the scores, above 1."""

    corpus: str
    policy: str
    module: str
    function: str
    default_score: float
    score: float
    ratio: float


def compared_rows(results: Sequence[CorpusResult], sides: Sequence[str]) -> Iterator[Row]:
    """A row per corpus, side and function or module that was compared, as COMPARED_COLUMNS says; `reward` is minus the ratio's logarithm."""
    for result in results:
        for side in sides:
            for row in result.comparison.rows:
                linked = [
                    result.linked[which].get(row.module) if which in result.linked else None
                    for which in (DEFAULT, side)
                ]
                ratio = row.ratios[side]
                # Where objects are scored nothing is logged, so decisions were not counted.
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
    """A row per corpus, side, module and function, as FUNCTION_COLUMNS says. None: that side's object does not hold the function."""
    for result in results:
        for side in sides:
            for module, by_default in result.code[DEFAULT].items():
                found = result.code[side][module]
                for function in sorted(by_default.keys() | found.keys()):
                    yield (result.corpus, side, module, function, by_default.get(function), found.get(function))


def worst_regressions(results: Sequence[CorpusResult], sides: Sequence[str], most: int) -> list[Regression]:
    """Of each corpus and side the `most` rows with the largest ratios above 1, the worst first."""
    found = []
    for result in results:
        for side in sides:
            worse = [row for row in result.comparison.rows if row.ratios[side] > 1.0]
            worse.sort(key=lambda row: (-row.ratios[side], row.module, row.function))
            found += [
                Regression(
                    result.corpus, side, row.module, row.function, row.default_score, row.scores[side], row.ratios[side]
                )
                for row in worse[:most]
            ]
    return found


def table_lines(results: Sequence[CorpusResult], sides: Sequence[str], what: str) -> list[str]:
    """For people: a line per corpus and side. Args: what: "functions" or "modules", of which geometric means are."""
    heads = (
        "corpus",
        "policy",
        f"{what}, geometric mean, 95 % interval",
        "better/worse/equal",
        "object code",
        "linked code, 95 % interval",
    )
    return aligned_lines([heads, *_cells(results, sides)])


def markdown(results: Sequence[CorpusResult], sides: Sequence[str], what: str) -> str:
    """The same as a table of a document."""
    heads = (
        "corpus",
        "policy",
        f"{what}, geometric mean, 95 % interval",
        "better / worse / equal",
        "object code",
        "linked code, 95 % interval",
    )
    lines = [*markdown_head(heads), *(markdown_row(cell or "-" for cell in cells) for cells in _cells(results, sides))]
    return "\n".join(lines) + "\n"


def _cells(results: Sequence[CorpusResult], sides: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for result in results:
        for side in sides:
            mean, linked = result.comparison.summaries[side], result.linked_summaries.get(side)
            counts = f"{mean.better}/{mean.worse}/{mean.equal} of {mean.functions}" if mean else ""
            shown = linked.percent() + f" ({linked.modules} modules)" if linked else ""
            yield (
                result.corpus,
                side,
                mean.percent() if mean else "nothing to compare",
                counts,
                _object_code(result, side),
                shown,
            )


def _object_code(result: CorpusResult, side: str) -> str:
    """How much more code the objects hold than the default's, all functions added up: "+0.31 %"."""
    sums = [sum(sum(functions.values()) for functions in result.code[which].values()) for which in (side, DEFAULT)]
    return f"{100.0 * (sums[0] / sums[1] - 1.0):+.2f} %" if sums[1] else ""


def to_parquet(columns: dict[str, str], rows: Iterator[Row]) -> bytes:
    """The rows as a typed table; None is null. Args: columns: name -> pyarrow's name of its type."""
    import pyarrow  # pylint: disable=import-outside-toplevel  # 0.3 s that only this needs.
    import pyarrow.parquet  # pylint: disable=import-outside-toplevel

    schema = pyarrow.schema([(name, pyarrow.type_for_alias(kind)) for name, kind in columns.items()])
    values = list(zip(*rows)) or [()] * len(columns)
    table = pyarrow.table([pyarrow.array(each, field.type) for each, field in zip(values, schema)], schema)
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue().to_pybytes()
