"""The result of a comparison as a table and as a page."""

import collections
from collections.abc import Sequence

from mlgo.reporting import drawings
from mlgo.reporting.comparison import Contender, Pairing
from mlgo.reporting.page import Block, Card, Cell, Change, Facts, Page, Paragraph, Point, Section, Table, Tone
from mlgo.reporting.results import corpus_title, side_title
from mlgo.reporting.scale import number
from mlgo.run.tabular import aligned_lines

_FIRST = ("against the first", "95 %", "better / worse / equal")
_COLUMNS = ("corpus", "policy", *_FIRST, "against the default", "95 %", "samples")


def comparison_table(pairings: Sequence[Pairing]) -> Table:
    """A row per corpus and contender."""
    rows = []
    for pairing in pairings:
        if (paired := pairing.against_first) is None:
            first = [Cell("reference", number=True), Cell("", number=True), Cell("", number=True)]
        else:
            counts = f"{paired.better} / {paired.worse} / {paired.equal}"
            first = [*drawings.change_cells(paired), Cell(counts, number=True)]
        names, default = (Cell(pairing.corpus), Cell(pairing.contender)), drawings.change_cells(pairing.against_default)
        rows.append((*names, *first, *default, Cell(_samples(pairing), number=True)))
    return Table("Paired by function or module; negative is better.", _COLUMNS, rows)


def text_lines(table: Table) -> list[str]:
    """The table for a terminal."""
    return aligned_lines([table.columns, *([cell.text for cell in row] for row in table.rows)])


def comparison_page(contenders: Sequence[Contender], pairings: Sequence[Pairing], not_shared: Sequence[str]) -> Page:
    """The page. Args: pairings: at least one; not_shared: corpora that some contender lacks."""
    first = contenders[0].name
    paired = [pairing for pairing in pairings if pairing.against_first is not None]
    cards = [
        Card(
            f"{pairing.contender}: {corpus_title(pairing.corpus)}",
            Change.of(pairing.against_first),
            f"{_what(pairing)}, against {first}, paired",
            _samples(pairing),
        )
        for pairing in paired
    ]
    points = []
    if not_shared:
        points.append(
            Point(Tone.EQUAL, f"Omitted corpora, not measured for all: {', '.join(map(corpus_title, not_shared))}.")
        )
    if left_out := sum({pairing.corpus: pairing.left_out for pairing in pairings}.values()):
        points.append(Point(Tone.EQUAL, f"Omitted functions or modules, not measured for all: {number(left_out, 0)}."))
    tones = {Change.of(pairing.against_first).tone for pairing in paired}
    tone = tones.pop() if len(tones) == 1 else Tone.EQUAL
    return Page(
        title=f"{', '.join(contender.name for contender in contenders[1:])} against {first}",
        lead="Policies compared on the same code, paired by function or module.",
        verdict=Point(tone, _verdict(paired, first)),
        points=tuple(points),
        cards=tuple(cards),
        sections=(
            Section("comparison", "By corpus", "By corpus", _sections(pairings, first)),
            Section("provenance", "Provenance", "Provenance", [_provenance(contenders)]),
        ),
    )


def _sections(pairings: Sequence[Pairing], first: str) -> list[Block]:
    against_first = [_row(pairing, pairing.against_first) for pairing in pairings if pairing.against_first is not None]
    against_default = [_row(pairing, pairing.against_default) for pairing in pairings]
    return [
        Paragraph(
            f"Each function or module is paired with the same one under {first}, which removes their common variation."
        ),
        drawings.forest(f"Against {first}.", against_first),
        drawings.forest("Against the compiler's default, same rows.", against_default),
        comparison_table(pairings),
    ]


def _row(pairing: Pairing, summary) -> tuple[str, str, str, Change, bool]:
    names, note = (corpus_title(pairing.corpus), side_title(pairing.contender)), drawings.counts_note(summary)
    return (*names, note, Change.of(summary), pairing.against_first is not None)


def _verdict(paired: Sequence[Pairing], first: str) -> str:
    names = list(dict.fromkeys(pairing.contender for pairing in paired))
    parts = []
    for name in names:
        changes = [(each.corpus, Change.of(each.against_first)) for each in paired if each.contender == name]
        shown = ", ".join(
            f"{each.verdict} on {corpus_title(corpus)} ({drawings.percent(each.percent)})" for corpus, each in changes
        )
        if len(names) > 2:
            # For many contenders only counts; the figures are in the table.
            counts = collections.Counter(change.verdict for _, change in changes)
            shown = ", ".join(f"{words} on {count}" for words, count in counts.items())
        parts.append(f"{name} against {first}: {shown}.")
    return " ".join(parts)


def _what(pairing: Pairing) -> str:
    return "linked code" if pairing.linked else "geometric mean of the score"


def _samples(pairing: Pairing) -> str:
    summary = pairing.against_default
    if pairing.linked or summary.functions == summary.modules:
        return f"{summary.modules} modules"
    return f"{number(summary.functions, 0)} functions in {summary.modules} modules"


def _provenance(contenders: Sequence[Contender]) -> Facts:
    rows = [
        (f"policy {contender.name}", contender.policy or "not recorded, or the compiler's heuristic")
        for contender in contenders
    ]
    rows += [
        ("clang", digest) for digest in dict.fromkeys(contender.clang for contender in contenders if contender.clang)
    ]
    corpora = dict.fromkeys((corpus.name, corpus.digest) for contender in contenders for corpus in contender.corpora)
    return Facts([*rows, *((f"corpus {name}", digest or "not recorded") for name, digest in corpora)], code=True)
