"""The section about real programs: size, run time, compile cost. Parts that a result lacks are omitted."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlgo.evaluation.sides import is_without_ml, side_and_cost
from mlgo.evaluation.verdict import Claim
from mlgo.pages.change import Change, Tone
from mlgo.pages.charts import Forest, ForestRow
from mlgo.pages.numbers import is_number, number, percent_of
from mlgo.pages.page import Block, Card, Cell, Details, Point, Section, Table, grouped_section
from mlgo.reporting.records import Content
from mlgo.reporting.titles import side_title

#: Program -> side -> measure -> figure.
_Figures = Mapping[str, Mapping[str, Mapping[str, Any]]]

#: Measures that are shown, and their titles; the first one that a result has is drawn.
_SIZES = {
    "code_bytes": "code",
    "code_bytes_icf": "code, identical functions folded",
    "code_bytes_thinlto": "code, ThinLTO",
    "code_bytes_thin_lto": "code, ThinLTO in the linker",
    "code_bytes_full_lto": "code, full LTO in the linker",
    "executable_bytes": "executable sections",
    "file_bytes": "file",
}
_COUNTS = {
    "instructions": "instructions",
    "data_references": "data references",
    "code_bytes": "bytes of code",
    "loads": "loads",
    "stores": "stores",
    "cycles": "cycles",
    "cpu_seconds": "seconds of CPU time",
    "instructions_thin_lto": "instructions, ThinLTO in the linker",
    "data_references_thin_lto": "data references, ThinLTO in the linker",
    "instructions_full_lto": "instructions, full LTO in the linker",
    "data_references_full_lto": "data references, full LTO in the linker",
}

#: Measures that vary between runs.
_NOISY = ("cycles", "cpu_seconds")

#: Part of a result -> its headline measure, and the title of that measure.
_HEADLINES = {
    "size": ("code_bytes", "code"),
    "executed": ("instructions", "instructions at -Oz"),
    "run": ("instructions", "instructions"),
}

#: Part of a result -> its title, and the titles of its measures.
_PARTS = {"size": ("Size, bytes", _SIZES), "executed": ("Execution at -Oz", _COUNTS), "run": ("Execution", _COUNTS)}

#: Names of the side that others are compared with; otherwise the first side.
_BASELINES = ("default", "packaged")

#: How many symbols of a program are shown.
_SYMBOLS = 12


def programs_section(records: Sequence[Content]) -> Section | None:
    groups = [(record.name, _blocks(record.content)) for record in records]
    return grouped_section("programs", "Real programs", "Programs", groups)


def cards(records: Sequence[Content]) -> list[Card]:
    found = []
    for record in records:
        for part, (_, words) in _HEADLINES.items():
            for side, total in _totals(record.content, part):
                if is_without_ml(side):
                    continue
                worst = total.get("worst")
                named = f"; worst {worst['program']} {percent_of(worst['ratio'])}" if worst else ""
                title = f"{words[:1].upper()}{words[1:]} of real programs"
                title += f" ({side_title(side)})" if side_and_cost(side) else ""
                title = f"{record.name}: {title}" if len(records) > 1 else title
                samples = f"{_programs_note(total)}{named}" if "programs" in total else side
                found.append(Card(title, _change(total), f"{side}, geometric mean", samples))
    return found


def points(records: Sequence[Content]) -> list[Point]:
    """The verdicts that results have; those of earlier versions have none."""
    found = []
    for record in records:
        for part, sides in (record.content.get("verdicts") or {}).items():
            words = _HEADLINES[part][1]
            found += [
                Point(Tone.of(Claim(of["claim"])), f"Real programs, {words}, {side_title(side)}: {of['sentence']}.")
                for side, of in sides.items()
            ]
    return found


def _blocks(content: Mapping[str, Any]) -> list[Block]:
    blocks: list[Block] = []
    for part, (_, words) in _HEADLINES.items():
        rows = [
            ForestRow("", side_title(side), _programs_note(total), _change(total), not is_without_ml(side))
            for side, total in _totals(content, part)
        ]
        if rows:
            caption = f"All programs, {words}: geometric mean, change against the default in percent, interval over"
            blocks.append(Forest(f"{caption} programs.", rows))
    for part, (title, names) in _PARTS.items():
        figures = {program: sides for program, sides in sorted((content.get(part) or {}).items()) if sides}
        measured = [name for name in names if _is_measured(figures, name)]
        if measured:
            # Only the first measure of a part is drawn; the others are tables.
            caption = f"{title}: {names[measured[0]]}, by program, in percent of {_sides(figures)[0]}."
            drawing = _drawn(figures, measured[0], caption)
            blocks += [drawing] if drawing.rows else []
        blocks += [_measured(figures, name, f"{title}: {names[name]}") for name in measured]
    symbols_of = content.get("symbols") or {}
    if symbols := [_symbols(program, symbols_of[program]) for program in sorted(symbols_of) if symbols_of[program]]:
        blocks.append(Details("Largest changes by function", symbols))
    blocks += _cost(content.get("cost") or {})
    for key, title in (("left_out", "Omitted programs"), ("differing", "Programs whose builds behave differently")):
        if reasons := [(Cell(path), Cell(text)) for path, text in _flat(content.get(key)) if path]:
            blocks.append(Table(title, ("program", "reason"), reasons))
    if blocks and content.get("totals"):
        every = [(Cell(path), Cell(text, number=True)) for path, text in _flat(content["totals"])]
        blocks.append(Details("All totals", [Table("Totals over programs.", ("what", "figure"), every)]))
    return blocks


def _totals(content: Mapping[str, Any], part: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(side, total of the headline measure of `part`), policies first."""
    of_part = (content.get("totals") or {}).get(part) or {}
    for side in sorted(of_part, key=lambda side: (is_without_ml(side), side)):
        if (total := of_part[side].get(_HEADLINES[part][0])) is not None:
            yield side, total


def _change(total: Mapping[str, Any], middle: str = "geometric_mean") -> Change:
    return Change.of_ratios(total[middle], total["low"], total["high"])


def _programs_note(total: Mapping[str, Any]) -> str:
    if "programs" not in total:
        return ""
    return f"{total['programs']} program{'' if total['programs'] == 1 else 's'}"


def _cost(cost: Mapping[str, Any]) -> list[Block]:
    """Args: cost: level -> side -> measure -> ratio with its interval."""
    return [
        Forest(
            f"Compile cost at {level} by measure and stage, change against the packaged compiler in percent.",
            [
                ForestRow(
                    side.replace("_", " "),
                    measure.replace("_", " "),
                    f"{number(ratio['sources'], 0)} sources" if "sources" in ratio else "",
                    _change(ratio, "ratio"),
                    True,
                )
                for side, measures in sides.items()
                for measure, ratio in measures.items()
            ],
        )
        for level, sides in sorted(cost.items())
    ]


def _sides(figures: _Figures) -> list[str]:
    names = list(dict.fromkeys(side for sides in figures.values() for side in sides))
    baseline = next((name for name in _BASELINES if name in names), None)
    return names if baseline is None else [baseline, *(name for name in names if name != baseline)]


def _value(figures: _Figures, program: str, side: str, name: str) -> float | None:
    value = figures[program].get(side, {}).get(name)
    return value if is_number(value) else None


def _is_measured(figures: _Figures, name: str) -> bool:
    return any(_value(figures, program, side, name) is not None for program in figures for side in figures[program])


def _measured(figures: _Figures, name: str, caption: str) -> Table:
    """A row per program, a column per side, with the change."""
    first, *others = _sides(figures)
    rows = []
    for program in figures:
        base = _value(figures, program, first, name)
        cells = [Cell(program), _number_cell(base)]
        for side in others:
            value = _value(figures, program, side, name)
            if value is None or not base:
                cells.append(_number_cell(value))
                continue
            # Sizes and counts are exact; what a single time is worth is unknown.
            tone = Tone.PLAIN if name in _NOISY else _exact_tone(value, base)
            cells.append(Cell(f"{_number(value)} ({percent_of(value / base)})", tone, True))
        rows.append(cells)
    return Table(caption, ("program", first, *others), rows)


def _exact_tone(value: float, base: float) -> Tone:
    return Tone.BETTER if value < base else Tone.WORSE if value > base else Tone.EQUAL


def _drawn(figures: _Figures, name: str, caption: str) -> Forest:
    first, *others = _sides(figures)
    rows = []
    for program in figures:
        base = _value(figures, program, first, name)
        for side in others:
            if base and (value := _value(figures, program, side, name)) is not None:
                # A single value has no interval.
                change = Change.of_ratios(value / base, value / base, value / base)
                rows.append(ForestRow(program, side_title(side), "", change, not is_without_ml(side)))
    return Forest(caption, rows)


def _symbols(program: str, entries: Sequence[Mapping[str, Any]]) -> Table:
    pairs = [(entry["symbol"], entry.get("default") or 0, entry.get("policy") or 0) for entry in entries]
    pairs.sort(key=lambda pair: (-abs(pair[2] - pair[1]), pair[0]))
    rows = [
        (
            Cell.of_name(symbol),
            _number_cell(before),
            _number_cell(after),
            Cell(number(after - before, 0, signed=True), _exact_tone(after, before), True),
        )
        for symbol, before, after in pairs[:_SYMBOLS]
    ]
    columns = ("function", "default", "policy", "change")
    return Table(f"{program}: functions that changed most, bytes.", columns, rows)


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """(path, text) of every figure in nested mappings; a value with its interval is one figure."""
    if isinstance(value, Mapping):
        if {"geometric_mean", "low", "high"} <= value.keys():
            yield path, _change(value).figures
            return
        for name, inner in value.items():
            yield from _flat(inner, f"{path}, {name}" if path else str(name))
    elif isinstance(value, bool) or value is None:
        yield path, {True: "yes", False: "no", None: "-"}[value]
    elif isinstance(value, (int, float)):
        yield path, _number(value)
    elif isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        yield path, ", ".join(str(entry) for entry in value)


def _number_cell(value: float | None) -> Cell:
    return Cell("" if value is None else _number(value), number=True)


def _number(value: float) -> str:
    return number(value, 0 if isinstance(value, int) or abs(value) >= 1000 else 3)
