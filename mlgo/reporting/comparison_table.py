"""The result of a comparison as a table and sentences."""

from collections.abc import Sequence

from mlgo.pages.numbers import number
from mlgo.pages.page import Cell, Table
from mlgo.reporting.comparison import Pairing
from mlgo.run.tabular import aligned_lines

_FIRST = ("against the first", "95 %", "geometric mean", "better / worse / equal")
_COLUMNS = ("corpus", "policy", *_FIRST, "against the default", "95 %", "samples")


def comparison_table(pairings: Sequence[Pairing]) -> Table:
    rows = []
    for pairing in pairings:
        if (paired := pairing.against_first) is None:
            first = [Cell("reference", number=True), *[Cell("", number=True)] * 3]
        else:
            signs = f"{paired.better} / {paired.worse} / {paired.equal}"
            mean = None if pairing.linked else paired
            # Without its interval, which the verdict has: the table must fit the paper.
            first = [*Cell.of_summary(pairing.headline), Cell.of_summary(mean)[0], Cell(signs, number=True)]
        names, default = (Cell(pairing.corpus), Cell(pairing.contender)), Cell.of_summary(pairing.against_default)
        rows.append((*names, *first, *default, Cell(_samples(pairing), number=True)))
    return Table("Paired by function or module; negative is better.", _COLUMNS, rows)


def text_lines(table: Table) -> list[str]:
    return aligned_lines([table.columns, *([cell.text for cell in row] for row in table.rows)])


def verdict_lines(pairings: Sequence[Pairing]) -> list[str]:
    """ "zstd, new against old: better by ..." for each pairing but those of the first contender."""
    reference = {pairing.corpus: pairing.contender for pairing in pairings if pairing.against_first is None}
    return [
        f"{each.corpus}, {each.contender} against {reference[each.corpus]}: {each.verdict.sentence()}"
        for each in pairings
        if each.verdict is not None
    ]


def _samples(pairing: Pairing) -> str:
    summary = pairing.against_default
    if pairing.linked or summary.functions == summary.modules:
        return f"{summary.modules} modules"
    return f"{number(summary.functions, 0)} functions in {summary.modules} modules"
