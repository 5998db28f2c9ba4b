"""The section about a search for better eviction decisions (//mlgo:tune --problem=regalloc_eviction)."""

from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.evaluation.statistics import RatioSummary
from mlgo.evaluation.weighted_sum import WeightedSum
from mlgo.reporting import drawings
from mlgo.reporting.page import Block, Card, Cell, Change, Paragraph, Section, Table, grouped_section
from mlgo.reporting.records import EvictionTuning
from mlgo.reporting.scale import number

_AGAINST_DEFAULT = "found against default"


def tuning_section(records: Sequence[EvictionTuning]) -> Section | None:
    """None: there is nothing."""
    groups = [(record.name, _blocks(record.content)) for record in records]
    return grouped_section("eviction-tuning", "Search for better evictions", "Evictions", groups)


def cards(records: Sequence[EvictionTuning]) -> list[Card]:
    """What was found against the default, in the geometric mean and in the sum, of every search."""
    found = []
    for record in records:
        prefix = f"{record.name}: " if len(records) > 1 else ""
        summary = _changes(record.content)[_AGAINST_DEFAULT]
        of_sum = _sums(record.content).get(_AGAINST_DEFAULT)
        samples = f"{number(summary.functions, 0)} functions"
        title = f"{prefix}Cost against the compiler's default"
        found.append(Card(title, Change.of(summary), "geometric mean", samples))
        if of_sum is not None:
            title = f"{prefix}Sum of the costs against the compiler's default"
            found.append(Card(title, Change.of(of_sum.summary), "sum", samples))
    return found


def _blocks(content: Mapping[str, Any]) -> list[Block]:
    return [
        Paragraph(_coverage(content)),
        Paragraph(_ends(content)),
        drawings.cost_curve(content["curve"]),
        _compared(content),
        *([_gains(content["gains"])] if content["gains"] else []),
        *([_left_out(content["left_out"])] if content["left_out"] else []),
    ]


def _coverage(content: Mapping[str, Any]) -> str:
    with_decisions, left_out = content["modules_with_decisions"], len(content["left_out"])
    all_modules = content["modules"] + left_out
    text = (
        f"The decision file covers {number(with_decisions, 0)} of {number(all_modules, 0)} modules: "
        f"{number(content['live_ranges'], 0)} live ranges in {number(content['functions'], 0)} functions."
    )
    if cost := content.get("callee_saved_cost"):
        text += f" All sides have -regalloc-csr-first-time-cost={cost}."
    rest = content["modules"] - with_decisions
    text += f" {number(rest, 0)} modules have no live range without a free register." if rest else ""
    return f"{text} {number(left_out, 0)} modules are left to the compiler." if left_out else text


def _ends(content: Mapping[str, Any]) -> str:
    tried = f"{number(content['tries'], 0)} allocations were tried, {number(content['tries_limit'], 0)} at most of each"
    late, functions = content["gaining_at_the_end"], content["functions"]
    return (
        f"{tried} function on average, besides those from which the search starts. The best one of {number(late, 0)} of"
        f" {number(functions, 0)} functions is among its last quarter of tries: more tries may improve these."
    )


def _changes(content: Mapping[str, Any]) -> dict[str, RatioSummary]:
    return {name: RatioSummary(**summary) for name, summary in content["change"].items()}


def _sums(content: Mapping[str, Any]) -> dict[str, WeightedSum]:
    return {name: WeightedSum.from_json(each) for name, each in content["sums"].items()}


def _compared(content: Mapping[str, Any]) -> Table:
    sums = _sums(content)
    rows = []
    for name, summary in sorted(_changes(content).items()):
        of_sum = sums[name].summary if name in sums else None
        counts = [Cell(number(count, 0), number=True) for count in (summary.better, summary.worse, summary.equal)]
        rows.append([Cell(name), *drawings.change_cells(summary), *drawings.change_cells(of_sum), *counts])
    caption = (
        "Costs of functions in percent, 95 % intervals over modules. The geometric mean counts all functions alike, the"
        " sum counts each by its cost."
    )
    columns = ("compared", "geometric mean", "interval", "sum", "interval", "better", "worse", "equal")
    return Table(caption, columns, rows)


def _gains(gains: Sequence[Mapping[str, Any]]) -> Table:
    rows = []
    for gain in gains:
        start, best = float(gain["start"]), float(gain["best"])
        change = drawings.percent(100.0 * (best / start - 1.0)) if start else ""
        costs = [Cell(number(value, 2), number=True) for value in (start, best)]
        names = [Cell.of_name(gain["function"]), Cell.of_name(gain["module"])]
        rows.append([*names, *costs, Cell(change, number=True)])
    caption = f"The {len(rows)} functions whose cost fell most, against the better one of the default and the policy."
    return Table(caption, ("function", "module", "cost at the start", "tuned", "change"), rows)


def _left_out(left_out: Mapping[str, str]) -> Table:
    rows = [[Cell.of_name(name), Cell(why)] for name, why in sorted(left_out.items())]
    return Table("Modules that are left to the compiler.", ("module", "reason"), rows)
