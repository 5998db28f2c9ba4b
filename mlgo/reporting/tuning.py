"""The section about a search for better decisions (//mlgo:tune)."""

from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.evaluation.statistics import RatioSummary
from mlgo.reporting import drawings
from mlgo.reporting.page import Block, Card, Cell, Change, Paragraph, Section, Table, grouped_section
from mlgo.reporting.records import Tuning
from mlgo.reporting.scale import number


def tuning_section(records: Sequence[Tuning]) -> Section | None:
    """None: there is nothing."""
    groups = [(record.name, _blocks(record.content)) for record in records]
    return grouped_section("tuning", "Search for better decisions", "Search", groups)


def cards(records: Sequence[Tuning]) -> list[Card]:
    """The linked image against each start, of every search."""
    found = []
    for record in records:
        for start, summary in _changes(record.content):
            title = f"Linked code against {_start_title(start)}"
            title = f"{record.name}: {title}" if len(records) > 1 else title
            found.append(Card(title, Change.of(summary), "code bytes", f"{number(summary.modules, 0)} modules"))
    return found


def _blocks(content: Mapping[str, Any]) -> list[Block]:
    cut = content["cut"]
    text = f"{number(content['modules'], 0)} modules were searched with {number(content['compiles'], 0)} compiles."
    return [
        Paragraph(f"{text} {_ends(cut, content)}"),
        drawings.anytime_curve(content["curve"]),
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


def _changes(content: Mapping[str, Any]) -> list[tuple[str, RatioSummary]]:
    return [(start, RatioSummary(**summary)) for start, summary in sorted(content["change"].items())]


def _linked(content: Mapping[str, Any]) -> Table:
    sizes = content["linked_code_bytes"]
    rows = [
        [Cell(_start_title(start)), _bytes(sizes[start]), *drawings.change_cells(summary)]
        for start, summary in _changes(content)
    ]
    rows.append([Cell("tuned"), _bytes(sizes["tuned"]), *drawings.change_cells(None)])
    folded = ", identical functions folded" if content["icf"] else ""
    caption = f"Code bytes of the linked image{folded}. Change of the tuned one in percent, 95 % interval over modules."
    return Table(caption, ("decisions of", "bytes", "change", "interval"), rows)


def _gains(gains: Sequence[Mapping[str, Any]]) -> Table:
    rows = []
    for gain in gains:
        start, best = float(gain["start"]), float(gain["best"])
        change = drawings.percent(100.0 * (best / start - 1.0)) if start else ""
        rows.append([Cell.of_name(gain["module"]), _bytes(start), _bytes(best), Cell(change, number=True)])
    caption = f"The {len(rows)} modules that gained most. A COMDAT counts by its share."
    return Table(caption, ("module", "bytes at the start", "tuned", "change"), rows)


def _cut(largest: Sequence[Mapping[str, Any]]) -> Table:
    rows = [
        [
            Cell.of_name(each["module"]),
            Cell(number(each["untried"], 0), number=True),
            Cell(number(each["untried_compiles"], 0), number=True),
            Cell("; ".join(each["next_tries"])),
        ]
        for each in largest
    ]
    caption = f"The {len(rows)} modules with the most changes that were not tried for want of compiles."
    return Table(caption, ("module", "changes", "compiles for them", "the first ones"), rows)


def _bytes(value: float) -> Cell:
    return Cell(number(value, 0), number=True)


def _start_title(start: str) -> str:
    return {"default": "the compiler's default", "policy": "the policy"}.get(start, start)
