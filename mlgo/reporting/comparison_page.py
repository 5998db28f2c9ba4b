"""The result of a comparison as a table and as a page."""

from collections.abc import Sequence

from mlgo.evaluation.statistics import RatioSummary
from mlgo.evaluation.verdict import Claim, Verdict
from mlgo.pages.change import Change, Tone
from mlgo.pages.charts import Forest, ForestRow
from mlgo.pages.numbers import number
from mlgo.pages.page import Block, Card, Cell, Facts, Page, Paragraph, Point, Section, Table
from mlgo.reporting.comparison import Contender, Pairing
from mlgo.reporting.headline import joined, line_of, measures_over_corpora, worst_of
from mlgo.reporting.titles import corpus_title, side_title
from mlgo.run.tabular import aligned_lines

_FIRST = ("against the first", "95 %", "geometric mean", "instructions", "better / worse / equal")
_COLUMNS = ("corpus", "policy", *_FIRST, "against the default", "95 %", "samples")


def comparison_table(pairings: Sequence[Pairing]) -> Table:
    rows = []
    for pairing in pairings:
        if (paired := pairing.against_first) is None:
            first = [Cell("reference", number=True), *[Cell("", number=True)] * 4]
        else:
            signs = f"{paired.better} / {paired.worse} / {paired.equal}"
            mean = None if pairing.linked else paired
            counted = pairing.counts.ratio if pairing.counts else None
            # Without their intervals, which the verdict has: the table must fit the paper.
            beside = [Cell.of_summary(mean)[0], Cell.of_ratio(counted), Cell(signs, number=True)]
            first = [*Cell.of_summary(pairing.headline), *beside]
        names, default = (Cell(pairing.corpus), Cell(pairing.contender)), Cell.of_summary(pairing.against_default)
        rows.append((*names, *first, *default, Cell(_samples(pairing), number=True)))
    return Table("Paired by function or module; negative is better.", _COLUMNS, rows)


def text_lines(table: Table) -> list[str]:
    return aligned_lines([table.columns, *([cell.text for cell in row] for row in table.rows)])


def comparison_page(contenders: Sequence[Contender], pairings: Sequence[Pairing], not_shared: Sequence[str]) -> Page:
    """The page. Args: pairings: at least one; not_shared: corpora that some contender lacks."""
    first = contenders[0].name
    paired = [(pairing, found) for pairing in pairings if (found := pairing.verdict) is not None]
    cards = [
        Card(
            f"{pairing.contender}: {corpus_title(pairing.corpus)}",
            _change(found),
            f"{_what(pairing)}, against {first}, paired",
            _samples(pairing),
        )
        for pairing, found in paired
    ]
    points = []
    if not_shared:
        points.append(
            Point(Tone.EQUAL, f"Omitted corpora, not measured for all: {', '.join(map(corpus_title, not_shared))}.")
        )
    if left_out := sum({pairing.corpus: pairing.left_out for pairing in pairings}.values()):
        points.append(Point(Tone.EQUAL, f"Omitted functions or modules, not measured for all: {number(left_out, 0)}."))
    points += [
        Point(Tone.EQUAL, line)
        for pairing, line in verdict_lines(pairings)
        if pairing.verdict is not None and pairing.verdict.claim is Claim.DISAGREEING
    ]
    return Page(
        title=f"{', '.join(contender.name for contender in contenders[1:])} against {first}",
        lead="Policies compared on the same code, paired by function or module.",
        verdict=_verdict(paired, first),
        points=tuple(points),
        cards=tuple(cards),
        sections=(
            Section("comparison", "By corpus", "By corpus", _sections(pairings, first)),
            Section("provenance", "Provenance", "Provenance", [_provenance(contenders)]),
        ),
    )


def verdict_lines(pairings: Sequence[Pairing]) -> list[tuple[Pairing, str]]:
    """ "zstd, new against old: better by ..." for each pairing but those of the first contender."""
    reference = {pairing.corpus: pairing.contender for pairing in pairings if pairing.against_first is None}
    return [
        (each, f"{each.corpus}, {each.contender} against {reference[each.corpus]}: {each.verdict.sentence()}")
        for each in pairings
        if each.verdict is not None
    ]


def _sections(pairings: Sequence[Pairing], first: str) -> list[Block]:
    against_first = [_row(pairing, pairing.headline) for pairing in pairings if pairing.headline is not None]
    against_default = [_row(pairing, pairing.against_default) for pairing in pairings]
    return [
        Paragraph(
            f"Each function or module is paired with the same one under {first}, which removes their common variation."
        ),
        Forest(f"Against {first}.", against_first),
        Forest("Against the compiler's default, same rows.", against_default),
        comparison_table(pairings),
    ]


def _row(pairing: Pairing, summary: RatioSummary) -> ForestRow:
    names = corpus_title(pairing.corpus), side_title(pairing.contender)
    return ForestRow.of(*names, summary, pairing.against_first is not None)


def _verdict(paired: Sequence[tuple[Pairing, Verdict]], first: str) -> Point:
    """A short sentence per contender: one number, its interval, and the worst corpus."""
    points = []
    for name in dict.fromkeys(pairing.contender for pairing, _ in paired):
        own = [pairing for pairing, _ in paired if pairing.contender == name]
        prefix = f"{name} against {first}: "
        if len(own) == 1:
            where = f"{_what(own[0])} on {corpus_title(own[0].corpus)}"
            points += [line_of(prefix, each, where, f", {_samples(own[0])}") for of, each in paired if of is own[0]]
            continue
        linked = [pairing.against_first if pairing.linked else None for pairing in own]
        sums = [each.sum_against_first.summary if each.sum_against_first else None for each in own]
        found = measures_over_corpora(linked, sums, [pairing.against_first for pairing in own])
        headlines = [(each.headline, each.corpus) for each in own if each.headline is not None]
        worst, corpus = max(headlines, key=lambda entry: entry[0].geometric_mean)
        points.append(line_of(prefix, found, None, worst_of(corpus_title(corpus), worst)))
    return joined(points)


def _what(pairing: Pairing) -> str:
    if pairing.counts is not None and not pairing.linked:
        return pairing.counts.measure
    if pairing.linked:
        return "linked code"
    return "weighted sum of the score" if pairing.sum_against_first else "geometric mean of the score"


def _change(found: Verdict) -> Change:
    first = found.evidence[0]
    return Change.of_ratios(first.ratio, first.low, first.high, found.claim)


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
