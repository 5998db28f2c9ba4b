"""A page as text for terminals, in colours where there is one."""

from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.table import Table as TextTable
from rich.text import Text

from mlgo.pages import page as pages
from mlgo.pages.charts import Forest, Lines, Ranking
from mlgo.run.printable import printable, printable_text

#: Width without a terminal, characters.
_PLAIN_WIDTH = 140
#: Names in tables are cut to this length.
_NAME_WIDTH = 90


class _PlainText(Console):
    """A console that escapes control characters in the text it is given, and still colours it."""

    def render_str(self, text: str, **settings: Any) -> Text:
        return super().render_str(printable_text(text), **settings)


def console(stream: TextIO) -> Console:
    """A console on `stream`: colours on terminals only."""
    width = None if stream.isatty() else _PLAIN_WIDTH
    return _PlainText(file=stream, width=width, highlight=False, soft_wrap=False, emoji=False, markup=False)


def show(stream: TextIO, page: pages.Page) -> None:
    """Writes `page` without its navigation, commands and provenance."""
    out = console(stream)
    out.print(_bold(page.title))
    out.print(page.lead)
    for point in [*([page.verdict] if page.verdict else []), *page.points]:
        out.print(f"  {point.text}")
    for section in page.sections:
        out.print()
        out.print(_bold(section.title))
        show_blocks(out, section.blocks)


def show_blocks(out: Console, blocks: Sequence[pages.Block]) -> None:
    for line in _all(blocks):
        out.print(line)


def _block(block: pages.Block) -> Iterator[RenderableType]:
    match block:
        case pages.Paragraph():
            yield block.text
        case pages.Facts():
            width = max((len(term) for term, _ in block.rows), default=0) + 1
            for term, text in block.rows:
                yield f"  {f'{term}:'.ljust(width)} {text}"
        case pages.Table():
            yield _table(block.columns, [[_shown(cell) for cell in row] for row in block.rows], block.caption)
        case Ranking():
            yield _table(("", "share"), [(bar.label, bar.text) for bar in block.bars], block.caption)
        case Forest():
            rows = [(f"{row.group} {row.label}".strip(), row.change.figures) for row in block.rows]
            yield _table(("", "change"), rows, block.caption)
        case Lines():
            yield block.description
        case pages.Group():
            yield ""
            yield Text(printable(block.title), "bold yellow" if block.marked else "bold")
            yield from _all(block.blocks)
        case pages.SideBySide():
            yield from _all(block.blocks)
        case pages.Details():
            yield f"  {block.summary}:"
            yield from _all(block.blocks)


def _all(blocks: Sequence[pages.Block]) -> Iterator[RenderableType]:
    for block in blocks:
        yield from _block(block)


def _bold(text: str) -> Text:
    return Text(printable(text), "bold")


def _shown(cell: pages.Cell) -> str:
    text = cell.folded or cell.text
    return text if len(text) <= _NAME_WIDTH else f"{text[: _NAME_WIDTH - 1]}…"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> TextTable:
    table = TextTable(box=None, title=title or None, title_justify="left", pad_edge=True, padding=(0, 2))
    for index, column in enumerate(columns):
        table.add_column(printable(column), justify="left" if index == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(printable, row))
    return table
