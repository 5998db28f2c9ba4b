"""The sections about searches for better decisions (//mlgo:tune): of calls to inline, and of evictions."""

from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.evaluation.statistics import RatioSummary
from mlgo.evaluation.weighted_sum import WeightedSum
from mlgo.pages.change import Change
from mlgo.pages.charts import Lines, Series
from mlgo.pages.numbers import number, percent_of
from mlgo.pages.page import Block, Card, Cell, Paragraph, Section, Table, grouped_section
from mlgo.reporting.records import Content, Kind

_AGAINST_DEFAULT = "found against default"


def tuning_sections(records: Sequence[Content]) -> list[Section | None]:
    """A section about inlining and one about evictions; None: there is no such search."""
    inlining = [(each.name, _inlining_blocks(each.content)) for each in records if each.kind is Kind.TUNING]
    evictions = [(each.name, _eviction_blocks(each.content)) for each in records if each.kind is Kind.EVICTION_TUNING]
    return [
        grouped_section("tuning", "Search for better decisions", "Search", inlining),
        grouped_section("eviction-tuning", "Search for better evictions", "Evictions", evictions),
    ]


def cards(records: Sequence[Content]) -> list[Card]:
    """The linked image, or the cost, against each start, of every search."""
    found = []
    for kind, cards_of in ((Kind.TUNING, _inlining_cards), (Kind.EVICTION_TUNING, _eviction_cards)):
        searches = [record for record in records if record.kind is kind]
        for record in searches:
            found += cards_of(record.content, f"{record.name}: " if len(searches) > 1 else "")
    return found


def _inlining_cards(content: Mapping[str, Any], prefix: str) -> list[Card]:
    return [
        Card(
            f"{prefix}Linked code against {_start_title(start)}",
            Change.of(summary),
            "code bytes",
            f"{number(summary.modules, 0)} modules",
        )
        for start, summary in _changes(content).items()
    ]


def _eviction_cards(content: Mapping[str, Any], prefix: str) -> list[Card]:
    summary, of_sum = _changes(content)[_AGAINST_DEFAULT], _sums(content).get(_AGAINST_DEFAULT)
    samples = f"{number(summary.functions, 0)} functions"
    found = [Card(f"{prefix}Cost against the compiler's default", Change.of(summary), "geometric mean", samples)]
    if of_sum is not None:
        title = f"{prefix}Sum of the costs against the compiler's default"
        found.append(Card(title, Change.of(of_sum.summary), "sum", samples))
    return found


def _inlining_blocks(content: Mapping[str, Any]) -> list[Block]:
    cut = content["cut"]
    text = f"{number(content['modules'], 0)} modules were searched with {number(content['compiles'], 0)} compiles."
    return [
        Paragraph(f"{text} {_ends(cut, content)}"),
        _bytes_curve(content["curve"]),
        _linked(content),
        _gains(
            content["gains"],
            "The {} modules that gained most. A COMDAT counts by its share.",
            ("module",),
            "bytes at the start",
            0,
        ),
        *([_cut(cut["largest"])] if cut["largest"] else []),
    ]


def _eviction_blocks(content: Mapping[str, Any]) -> list[Block]:
    gains = _gains(
        content["gains"],
        "The {} functions whose cost fell most, against the better one of the default and the policy.",
        ("function", "module"),
        "cost at the start",
        2,
    )
    left_out = [[Cell.of_name(name), Cell(why)] for name, why in sorted(content["left_out"].items())]
    return [
        Paragraph(_coverage(content)),
        Paragraph(_late(content)),
        _cost_curve(content["curve"]),
        _compared(content),
        *([gains] if gains.rows else []),
        *([Table("Modules that are left to the compiler.", ("module", "reason"), left_out)] if left_out else []),
    ]


def _ends(cut: Mapping[str, Any], content: Mapping[str, Any]) -> str:
    if not cut["modules"]:
        return "All searches ended because nothing was left to try."
    flag, value = ("budget", content["budget"]) if content.get("budget") else ("compiles", content["compiles_limit"])
    tries = f"{number(cut['untried'], 0)} changes, in {number(cut['untried_compiles'], 0)} compiles"
    return (
        f"{number(cut['modules'], 0)} searches ended because they had used their compiles. With twice as many"
        f" (--{flag}={2 * value:g}), they would first try {tries}, and then what these make possible."
    )


def _coverage(content: Mapping[str, Any]) -> str:
    with_decisions, left_out = content["modules_with_decisions"], len(content["left_out"])
    all_modules = content["modules"] + left_out
    text = (
        f"The decision file covers {number(with_decisions, 0)} of {number(all_modules, 0)} modules: "
        f"{number(content['live_ranges'], 0)} live ranges in {number(content['functions'], 0)} functions."
    )
    if cost := content.get("callee_saved_cost"):
        text += f" All sides have -mlgo-callee-saved-cost={cost}."
    rest = content["modules"] - with_decisions
    text += f" {number(rest, 0)} modules have no live range without a free register." if rest else ""
    return f"{text} {number(left_out, 0)} modules are left to the compiler." if left_out else text


def _late(content: Mapping[str, Any]) -> str:
    tried = f"{number(content['tries'], 0)} allocations were tried, {number(content['tries_limit'], 0)} at most of each"
    late, functions = content["gaining_at_the_end"], content["functions"]
    return (
        f"{tried} function on average, besides those from which the search starts. The best one of {number(late, 0)} of"
        f" {number(functions, 0)} functions is among its last quarter of tries: more tries may improve these."
    )


def _bytes_curve(points: Sequence[tuple[int, float, float]]) -> Lines:
    """Args: points: (compiles of each module, bytes of all modules, change as a ratio minus 1), at least one."""
    drawn: list[tuple[float, float]] = []
    for compiles, _, change in points:
        # A step: what was found before holds until here.
        drawn += [(compiles, drawn[-1][1])] if drawn else []
        drawn.append((compiles, 100.0 * change))
    last, _, change = points[-1]
    return Lines(
        "Bytes of all modules by compiles of each module, change against the default in percent.",
        f"Bytes against the default: {percent_of(1.0 + change)} after {last} compiles of each module.",
        [Series("bytes of all modules", drawn, "main")],
    )


def _cost_curve(points: Sequence[tuple[int, float, float]]) -> Lines:
    """Args: points: (tries of each function, geometric mean of the ratios to the default, ratio of the sums)."""
    series = []
    for place, label, style in ((1, "geometric mean over functions", "main"), (2, "sum of the costs", "second")):
        titles = [f"{label} after {point[0]} tries: {percent_of(point[place])}" for point in points]
        series.append(Series(label, [(point[0], 100.0 * (point[place] - 1.0)) for point in points], style, titles))
    last, mean, total = points[-1]
    return Lines(
        "Cost by tries of each function, change against the default in percent.",
        f"Cost against the default after {last} tries of each function: {percent_of(mean)} in the geometric mean,"
        f" {percent_of(total)} in the sum.",
        series,
    )


def _changes(content: Mapping[str, Any]) -> dict[str, RatioSummary]:
    return {name: RatioSummary(**summary) for name, summary in sorted(content["change"].items())}


def _sums(content: Mapping[str, Any]) -> dict[str, WeightedSum]:
    return {name: WeightedSum.from_json(each) for name, each in content["sums"].items()}


def _linked(content: Mapping[str, Any]) -> Table:
    sizes = content["linked_code_bytes"]
    rows = [
        [Cell(_start_title(start)), Cell.of_number(sizes[start]), *Cell.of_summary(summary)]
        for start, summary in _changes(content).items()
    ]
    rows.append([Cell("tuned"), Cell.of_number(sizes["tuned"]), *Cell.of_summary(None)])
    folded = ", identical functions folded" if content["icf"] else ""
    caption = f"Code bytes of the linked image{folded}. Change of the tuned one in percent, 95 % interval over modules."
    return Table(caption, ("decisions of", "bytes", "change", "interval"), rows)


def _compared(content: Mapping[str, Any]) -> Table:
    sums = _sums(content)
    rows = []
    for name, summary in _changes(content).items():
        of_sum = sums[name].summary if name in sums else None
        counts = map(Cell.of_number, (summary.better, summary.worse, summary.equal))
        rows.append([Cell(name), *Cell.of_summary(summary), *Cell.of_summary(of_sum), *counts])
    caption = (
        "Costs of functions in percent, 95 % intervals over modules. The geometric mean counts all functions alike, the"
        " sum counts each by its cost."
    )
    columns = ("compared", "geometric mean", "interval", "sum", "interval", "better", "worse", "equal")
    return Table(caption, columns, rows)


def _gains(gains: Sequence[Mapping[str, Any]], caption: str, names: Sequence[str], before: str, digits: int) -> Table:
    """Args: caption: with a place for the number of rows; names: columns with names; digits: of scores."""
    rows = []
    for gain in gains:
        start, best = float(gain["start"]), float(gain["best"])
        scores = [Cell.of_number(value, digits) for value in (start, best)]
        change = Cell.of_ratio(best / start if start else None)
        rows.append([*(Cell.of_name(gain[key]) for key in names), *scores, change])
    return Table(caption.format(len(rows)), (*names, before, "tuned", "change"), rows)


def _cut(largest: Sequence[Mapping[str, Any]]) -> Table:
    rows = [
        [
            Cell.of_name(each["module"]),
            Cell.of_number(each["untried"]),
            Cell.of_number(each["untried_compiles"]),
            Cell("; ".join(each["next_tries"])),
        ]
        for each in largest
    ]
    caption = f"The {len(rows)} modules with the most changes that were not tried for want of compiles."
    return Table(caption, ("module", "changes", "compiles for them", "the first ones"), rows)


def _start_title(start: str) -> str:
    return {"default": "the compiler's default", "policy": "the policy"}.get(start, start)
