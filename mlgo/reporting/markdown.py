"""The summary of a page as Markdown, for a comment of CI."""

from collections.abc import Iterator, Sequence

from mlgo.reporting import drawings
from mlgo.reporting.page import Block, Cell, Group, Page, Table, Tone
from mlgo.reporting.results import REPRODUCE
from mlgo.run.printable import printable
from mlgo.run.tabular import markdown_code, markdown_row, markdown_text

_MARKS = {Tone.BETTER: "✅", Tone.WORSE: "❌", Tone.EQUAL: "➖", Tone.PLAIN: ""}

#: Regressions in a summary.
_ROWS = 5


def markdown(page: Page) -> bytes:
    """The verdict, the headline figures and the worst regressions."""
    lines = [
        f"## {markdown_text(page.title)}",
        "",
        f"{_MARKS[page.verdict.tone]} **{markdown_text(page.verdict.text)}**",
        "",
    ]
    if page.cards:
        lines += ["| | change | 95 % interval | of | samples | |", "| --- | ---: | ---: | --- | --- | --- |"]
        for card in page.cards:
            change = card.change
            cells = (
                card.title,
                drawings.percent(change.percent),
                drawings.interval(change),
                card.unit,
                card.samples,
                change.verdict,
            )
            lines.append(markdown_row(map(markdown_text, cells)))
        lines.append("")
    lines += [" ".join(filter(None, ("-", _MARKS[point.tone], markdown_text(point.text)))) for point in page.points]
    regressions = next((section for section in page.sections if section.anchor == "regressions"), None)
    for name, table in _tables(regressions.blocks if regressions else (), ""):
        lines += [
            "",
            f"<details><summary>Worst regressions{': ' + html_escaped(name) if name else ''}</summary>",
            "",
            *table_lines(table, _ROWS),
        ]
        lines += ["", "</details>"]
    lines += [
        "",
        "Change against the compiler's default; negative is better. Intervals are bootstraps over modules.",
        "",
    ]
    return "\n".join(lines).encode("utf-8", "replace")


def table_lines(table: Table, most: int | None = None) -> list[str]:
    """A table without its commands. Args: most: rows; None: all."""
    kept = [index for index, column in enumerate(table.columns) if column != REPRODUCE]
    lines = [markdown_row(markdown_text(table.columns[index]) for index in kept)]
    lines.append(markdown_row("---:" if table.rows and table.rows[0][index].number else "---" for index in kept))
    return lines + [markdown_row(_cell(cells[index]) for index in kept) for cells in table.rows[:most]]


def html_escaped(text: str) -> str:
    """`text` escaped for HTML inside Markdown."""
    return printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _cell(cell: Cell) -> str:
    # A long name as on the page before it is unfolded.
    text = cell.folded or cell.text
    return markdown_code(text) if cell.code else markdown_text(text)


def _tables(blocks: Sequence[Block], name: str) -> Iterator[tuple[str, Table]]:
    for block in blocks:
        if isinstance(block, Table):
            yield name, block
        elif isinstance(block, Group):
            yield from _tables(block.blocks, block.title)
