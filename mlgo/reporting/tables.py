"""Reads functions.csv of training runs and modules.csv of evaluations (mlgo/evaluation/corpora)."""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence

from mlgo.reporting.records import Row
from mlgo.run.exit_codes import RunError
from mlgo.run.tabular import csv_text

_REMEDY = "Run the command that wrote it again"
# No two lines have these in common, as far as the table has them.
_KEY = ("corpus", "policy", "module", "function")
#: C++ symbols can exceed the 128 KiB that Python's csv allows for a field by default.
_LONGEST_FIELD = 16 * 1024 * 1024


def functions_table(content: bytes, read: str) -> dict[str, list[Row]]:
    """functions.csv of a training run: side -> rows. Raises: RunError: it is no such table; names the line."""
    lines = _lines(content, read, ("module", "function", "default_score", "seen_in_training"))
    found: dict[str, list[Row]] = {}
    for number, line in lines:
        for side in [column.removesuffix("_ratio") for column in line if column.endswith("_ratio")]:
            values = (line.get(f"{side}_score", ""), line[f"{side}_ratio"])
            found.setdefault(side, []).append(_row(line, *values, read, number))
    return found


def modules_table(content: bytes, read: str) -> dict[tuple[str, str], list[Row]]:
    """modules.csv of an evaluation: (corpus, side) -> rows. Raises: RunError: it is no such table."""
    found: dict[tuple[str, str], list[Row]] = {}
    columns = ("corpus", "policy", "module", "function", "default_score", "score", "ratio")
    for number, line in _lines(content, read, columns):
        row = _row(line, line["score"], line["ratio"], read, number)
        found.setdefault((line["corpus"], line["policy"]), []).append(row)
    return found


def _lines(content: bytes, read: str, columns: Sequence[str]) -> Iterable[tuple[int, Mapping[str, str]]]:
    """(line number, value by column) of each line after the header."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RunError(read, f"is not UTF-8 at byte {error.start}", _REMEDY) from error
    csv.field_size_limit(_LONGEST_FIELD)
    seen: set[tuple[str | None, ...]] = set()
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        missing = [column for column in columns if column not in (reader.fieldnames or ())]
        if missing:
            raise RunError(read, f"has no column {missing[0]!r}", _REMEDY)
        for line in reader:
            if None in line or None in line.values():
                raise RunError(f"{read}, line {reader.line_num}", "has not as many fields as the header", _REMEDY)
            key = tuple(map(line.get, _KEY))
            if key in seen:
                wrong = f"has {' '.join(filter(None, key))} a second time"
                raise RunError(f"{read}, line {reader.line_num}", wrong, _REMEDY)
            seen.add(key)
            yield reader.line_num, {csv_text(column): csv_text(cell) for column, cell in line.items()}
    except csv.Error as error:
        raise RunError(f"{read}, line {reader.line_num}", f"is not CSV: {error}", _REMEDY) from error


def _row(line: Mapping[str, str], score: str, ratio: str, read: str, number: int) -> Row:
    where, sizes = f"{read}, line {number}", (line.get(name) for name in ("default_linked_bytes", "linked_bytes"))
    try:
        scores = float(line["default_score"]), float(score), float(ratio)
        row = Row(line["module"], line["function"], *scores, *(int(size) if size else None for size in sizes))
    except ValueError as error:
        raise RunError(where, f"holds a value that is not a number: {error}", _REMEDY) from error
    if not (row.ratio > 0 and all(map(math.isfinite, (row.default_score, row.score, row.ratio)))):
        wrong = f"holds the ratio {row.ratio} of scores {row.score} and {row.default_score}"
        raise RunError(where, wrong, _REMEDY)
    if (row.default_linked or 0) < 0 or (row.linked or 0) < 0:
        raise RunError(where, "holds fewer linked bytes than none", _REMEDY)
    return row
