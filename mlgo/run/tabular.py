"""Rows of cells as CSV, as columns of a terminal, and as Markdown."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any


def encode_csv(columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> bytes:
    """CSV in UTF-8 with a header; None is an empty field. Equal rows give equal bytes."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return buffer.getvalue().encode("utf-8")


def aligned_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """A line for each row; a column is as wide as its widest cell.

    Raises: ValueError: the rows differ in length.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def markdown_row(cells: Iterable[str]) -> str:
    """A line of a Markdown table; cells are not escaped."""
    return f"| {' | '.join(cells)} |"


def markdown_head(titles: Sequence[str]) -> list[str]:
    """The lines that begin a Markdown table."""
    return [markdown_row(titles), markdown_row(["---"] * len(titles))]
