"""Names of C++ functions on a page, demangled in one go. Commands and files for programs keep mangled names."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from mlgo.compiler.symbols import Demangler, mangled_names
from mlgo.pages.page import COMMANDS, Block, Cell, Details, Group, Page, Paragraph, Point, Table

_Change = Callable[[str], str]


def with_readable_names(page: Page, demangler: Demangler) -> Page:
    """`page` with demangled names in sentences and tables; long ones are cut, with the full name as tooltip.

    Raises: RunError: llvm-cxxfilt fails.
    """
    texts = [text for text in _texts(page) if mangled_names(text)]
    if not texts:
        return page
    demangler.names(name for text in texts for name in mangled_names(text))

    def short(text: str) -> str:
        return demangler.texts([text])[0]

    def full(text: str) -> str:
        return demangler.texts([text], longest=None)[0]

    sections = [
        dataclasses.replace(section, blocks=[_block(block, short, full) for block in section.blocks])
        for section in page.sections
    ]
    return dataclasses.replace(
        page,
        verdict=page.verdict and _point(page.verdict, short),
        points=tuple(_point(point, short) for point in page.points),
        sections=tuple(sections),
    )


def _texts(page: Page) -> Iterator[str]:
    """The texts of a page that may have names of functions in them."""
    yield from (point.text for point in (page.verdict, *page.points) if point is not None)
    for section in page.sections:
        yield from _texts_of(section.blocks)


def _texts_of(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, (Group, Details)):
            yield from _texts_of(block.blocks)
        elif isinstance(block, Paragraph):
            yield block.text
        elif isinstance(block, Table):
            yield from (cell.text for row in block.rows for cell in row if cell.folded != COMMANDS)


def _point(point: Point, short: _Change) -> Point:
    return dataclasses.replace(point, text=short(point.text))


def _block(block: Block, short: _Change, full: _Change) -> Block:
    if isinstance(block, (Group, Details)):
        return dataclasses.replace(block, blocks=[_block(inner, short, full) for inner in block.blocks])
    if isinstance(block, Paragraph):
        return dataclasses.replace(block, text=short(block.text))
    if isinstance(block, Table):
        return dataclasses.replace(block, rows=[[_cell(cell, short, full) for cell in row] for row in block.rows])
    return block


def _cell(cell: Cell, short: _Change, full: _Change) -> Cell:
    if cell.folded == COMMANDS or not mangled_names(cell.text):
        return cell
    text, folded = full(cell.text), short(cell.text)
    if text == cell.text:
        return cell
    return dataclasses.replace(cell, text=text, folded=folded if folded != text else "", title=f"{text}\n{cell.text}")
