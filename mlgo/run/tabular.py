"""Rows of cells as CSV, as columns of a terminal, and as Markdown."""

import csv
import io
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any

from mlgo.run.printable import printable

#: Characters with a meaning inside a line of Markdown; text never begins a line.
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&$])")
# A spreadsheet takes a cell that begins so, also in wide characters, for a formula: it may fetch pages, start programs.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def encode_csv(columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> bytes:
    """CSV in UTF-8 with a header; None is an empty field. Equal rows give equal bytes.

    Bytes of names that are not UTF-8 are written as `\\udcff`, so that every reader takes the file. A text that begins
    like a formula has a `'` before it, which `csv_text` takes away.
    """
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows(map(_inert, row) for row in itertools.chain([columns], rows))
    return buffer.getvalue().encode("utf-8", "backslashreplace")


def csv_text(cell: str) -> str:
    """The text that `encode_csv` was given for a cell."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _inert(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def aligned_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """A line for each row; a column is as wide as its widest cell. Raises: ValueError: the rows differ in length."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def markdown_row(cells: Iterable[str]) -> str:
    """A line of a Markdown table; cells are not escaped."""
    return f"| {' | '.join(cells)} |"


def markdown_head(titles: Sequence[str]) -> list[str]:
    """The lines that begin a Markdown table."""
    return [markdown_row(titles), markdown_row(["---"] * len(titles))]


def markdown_text(text: str) -> str:
    """`text` in one line of Markdown, also in a table, with all Markdown and HTML in it escaped."""
    return _SPECIAL.sub(r"\\\1", _one_line(text))


def markdown_code(text: str) -> str:
    """`text` as a code span in one line of Markdown, also in a table."""
    text = _one_line(text)
    # A code span needs more backticks around it than in it; in a table a bar needs a backslash even there.
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    padding = " " if "`" in text else ""
    return f"{fence}{padding}{text}{padding}{fence}".replace("|", "\\|") if text else ""


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))
