"""The blocks about weighted sums: their intervals, and the functions or modules that carry them."""

from collections.abc import Collection, Sequence

from mlgo.evaluation.weighted_sum import Contributor, WeightedSum
from mlgo.pages.charts import Forest, ForestRow
from mlgo.pages.numbers import share_text
from mlgo.pages.page import Block, Cell, Details, Paragraph, Table
from mlgo.reporting.records import CorpusResult
from mlgo.reporting.titles import corpus_title, side_title

_MISSING = (
    "The weighted sum is missing: this result does not record it, and its table (modules.csv or functions.csv) was not"
    " kept."
)


def sum_blocks(corpora: Sequence[CorpusResult], policies: Collection[str]) -> list[Block]:
    """A drawing of the sums of all sides, and a table of what carries those of the policies."""
    sides = [(corpus, side) for corpus in corpora for side in corpus.sides]
    known = [(corpus, side, side.weighted) for corpus, side in sides if side.weighted is not None]
    if not known:
        return [Paragraph(_MISSING)] if any(side.mean for _, side in sides) else []
    unit = corpora[0].unit
    rows = [
        ForestRow.of(corpus_title(corpus.name), side_title(side.name), weighted.summary, side.name in policies)
        for corpus, side, weighted in known
    ]
    drawn = Forest(f"Weighted sum: the sum of the scores of all {unit}, which counts each by its score.", rows)
    tables = [
        _table(
            f"{corpus_title(corpus.name)}, {side_title(side.name)}" if len(policies) > 1 else corpus_title(corpus.name),
            unit,
            weighted,
        )
        for corpus, side, weighted in known
        if side.name in policies
    ]
    return [drawn, *([Details(f"{unit.capitalize()} that carry the sum", tables)] if tables else [])]


def _table(title: str, unit: str, weighted: WeightedSum) -> Table:
    count, scores, changes = weighted.summary.functions, weighted.largest_scores, weighted.largest_changes
    caption = (
        f"{title}: {share_text(weighted.largest_scores_share)} of the sum is in {len(scores)} of {count}"
        f" {unit}, and {share_text(weighted.largest_changes_share)} of all its changes in {len(changes)}."
    )
    shown = list(dict.fromkeys((*scores, *changes)))
    by_function = any(each.function for each in shown)
    columns = ("module", *(("function",) if by_function else ()), "share of the sum", "changes the sum by")
    return Table(caption, columns, [_row(each, by_function) for each in shown])


def _row(contributor: Contributor, by_function: bool) -> tuple[Cell, ...]:
    return (
        Cell.of_name(contributor.module),
        *((Cell.of_name(contributor.function),) if by_function else ()),
        Cell(share_text(contributor.share), number=True),
        Cell.of_ratio(1.0 + contributor.change),
    )
