"""A page as Markdown: a summary for a comment of CI, or the whole page."""

from collections.abc import Iterator, Sequence

from mlgo.pages.change import Tone
from mlgo.pages.charts import Forest, Lines, Ranking
from mlgo.pages.numbers import share_text
from mlgo.pages.page import COMMANDS, Block, Cell, Details, Facts, Group, Page, Paragraph, SideBySide, Table
from mlgo.run.printable import printable
from mlgo.run.tabular import markdown_code, markdown_row, markdown_text

_MARKS = {Tone.BETTER: "✅", Tone.WORSE: "❌", Tone.EQUAL: "➖", Tone.PLAIN: ""}

#: Regressions in a summary.
_ROWS = 5


def summary(page: Page) -> bytes:
    lines = [f"## {markdown_text(page.title)}", "", *_top(page)]
    regressions = next((section for section in page.sections if section.anchor == "regressions"), None)
    for name, table in _tables(regressions.blocks if regressions else (), ""):
        title = f"Worst regressions{': ' + name if name else ''}"
        lines += [*_folded(title, table_lines(table, _ROWS)), ""]
    lines += ["Change against the compiler's default; negative is better. Intervals are bootstraps over modules.", ""]
    return "\n".join(lines).encode("utf-8", "replace")


def document(page: Page) -> bytes:
    """The whole page; charts of lines are their text alternatives."""
    lines = [f"# {markdown_text(page.title)}", "", markdown_text(page.lead), "", *_top(page)]
    for section in page.sections:
        lines += [f"## {markdown_text(section.title)}", "", *_blocks(section.blocks, 3)]
    return "\n".join(lines).encode("utf-8", "replace")


def table_lines(table: Table, most: int | None = None) -> list[str]:
    """A table without its commands. Args: most: rows; None: all."""
    kept = [index for index in range(len(table.columns)) if all(row[index].folded != COMMANDS for row in table.rows)]
    lines = [markdown_row(markdown_text(table.columns[index]) for index in kept)]
    lines.append(markdown_row("---:" if table.rows and table.rows[0][index].number else "---" for index in kept))
    return lines + [markdown_row(_cell(cells[index]) for index in kept) for cells in table.rows[:most]]


def _top(page: Page) -> list[str]:
    lines = []
    if page.verdict is not None:
        lines += [f"{_MARKS[page.verdict.tone]} **{markdown_text(page.verdict.text)}**", ""]
    if page.cards:
        lines += ["| | change | 95 % interval | of | samples | |", "| --- | ---: | ---: | --- | --- | --- |"]
        for card in page.cards:
            change = card.change
            cells = (card.title, change.percent_text, change.interval_text, card.unit, card.samples, change.verdict)
            lines.append(markdown_row(map(markdown_text, cells)))
        lines.append("")
    lines += [" ".join(filter(None, ("-", _MARKS[each.tone], markdown_text(each.text)))) for each in page.points]
    return [*lines, ""] if page.points else lines


def _blocks(blocks: Sequence[Block], level: int) -> list[str]:
    return [line for block in blocks for line in (*_block(block, level), "")]


def _block(block: Block, level: int) -> list[str]:
    match block:
        case Paragraph():
            return [markdown_text(block.text)]
        case Facts():
            return [f"- {markdown_text(term)}: {markdown_text(text)}" for term, text in block.rows]
        case Table():
            return [*([markdown_text(block.caption), ""] if block.caption else []), *table_lines(block)]
        case Forest():
            rows = [(row.group, row.label, row.change.figures, row.note) for row in block.rows]
            return [markdown_text(block.caption), "", *_plain_table(("", "", "change", ""), rows)]
        case Ranking():
            shares = [(bar.label, bar.text, _interval(bar.low, bar.high)) for bar in block.bars]
            return [markdown_text(block.caption), "", *_plain_table(("", "share", "95 % interval"), shares)]
        case Lines():
            return [markdown_text(block.description)]
        case SideBySide():
            return _blocks(block.blocks, level)[:-1]
        case Group():
            return [f"{'#' * level} {markdown_text(block.title)}", "", *_blocks(block.blocks, level + 1)[:-1]]
        case Details():
            return _folded(block.summary, _blocks(block.blocks, level)[:-1])


def _folded(title: str, lines: Sequence[str]) -> list[str]:
    escaped = printable(title).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return [f"<details><summary>{escaped}</summary>", "", *lines, "", "</details>"]


def _plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return table_lines(Table("", columns, [[Cell(text) for text in row] for row in rows]))


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{share_text(low)} … {share_text(high)}"


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
