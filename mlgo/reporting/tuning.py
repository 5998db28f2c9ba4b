"""The section about searches for better decisions (//mlgo:tune)."""

from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.evaluation.statistics import RatioSummary
from mlgo.pages.change import Change
from mlgo.pages.charts import Lines, Series
from mlgo.pages.numbers import number, percent_of
from mlgo.pages.page import Block, Card, Cell, Paragraph, Section, Table, grouped_section
from mlgo.reporting.records import Content, Kind


def tuning_section(records: Sequence[Content]) -> Section | None:
    """None: there is no such search."""
    found = [(each.name, _blocks(each.content)) for each in records if each.kind is Kind.TUNING]
    return grouped_section("tuning", "Search for better decisions", "Search", found)


def cards(records: Sequence[Content]) -> list[Card]:
    """The linked image against each start, of every search."""
    searches = [record for record in records if record.kind is Kind.TUNING]
    return [
        card for record in searches for card in _cards(record.content, f"{record.name}: " if len(searches) > 1 else "")
    ]


def _cards(content: Mapping[str, Any], prefix: str) -> list[Card]:
    return [
        Card(
            f"{prefix}Linked code against {_start_title(start)}",
            Change.of(summary),
            "code bytes",
            f"{number(summary.modules, 0)} modules",
        )
        for start, summary in _changes(content).items()
    ]


def _blocks(content: Mapping[str, Any]) -> list[Block]:
    cut = content["cut"]
    text = f"{number(content['modules'], 0)} modules were searched with {number(content['compiles'], 0)} compiles."
    return [
        Paragraph(f"{text} {_ends(cut, content)}"),
        _bytes_curve(content["curve"]),
        _linked(content),
        _gains(content["gains"]),
        *([_cut(cut["largest"])] if cut["largest"] else []),
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


def _changes(content: Mapping[str, Any]) -> dict[str, RatioSummary]:
    return {name: RatioSummary(**summary) for name, summary in sorted(content["change"].items())}


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


def _gains(gains: Sequence[Mapping[str, Any]]) -> Table:
    rows = []
    for gain in gains:
        start, best = float(gain["start"]), float(gain["best"])
        change = Cell.of_ratio(best / start if start else None)
        rows.append([Cell.of_name(gain["module"]), Cell.of_number(start), Cell.of_number(best), change])
    caption = f"The {len(rows)} modules that gained most. A COMDAT counts by its share."
    return Table(caption, ("module", "bytes at the start", "tuned", "change"), rows)


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
