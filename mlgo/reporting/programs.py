"""The section about real programs: size, run time, compile cost. Parts that a result lacks are omitted."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlgo.evaluation.sides import is_without_ml, side_and_cost
from mlgo.evaluation.verdict import Claim
from mlgo.pages.change import Change, Tone
from mlgo.pages.charts import Forest, ForestRow
from mlgo.pages.numbers import is_number, number, percent_of
from mlgo.pages.page import Block, Card, Cell, Details, Point, Section, Table, grouped_section
from mlgo.reporting.records import Content, side_title

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
_TOTALS = {"instructions": "instructions", "data_references": "data references"}
_COUNTS = {
    **_TOTALS,
    "code_bytes": "bytes of code",
    **{name: name for name in ("loads", "stores", "cycles")},
    "cpu_seconds": "seconds of CPU time",
    **{f"{name}_thin_lto": f"{title}, ThinLTO in the linker" for name, title in _TOTALS.items()},
    **{f"{name}_full_lto": f"{title}, full LTO in the linker" for name, title in _TOTALS.items()},
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
            for side, of in sides.items():
                text = f"Real programs, {_HEADLINES[part][1]}, {side_title(side)}: {of['sentence']}."
                found.append(Point(Tone.of(Claim(of["claim"])), text))
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
        measured = [name for name in names if any(_values(figures, name).values())]
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
    blocks: list[Block] = []
    for level, sides in sorted(cost.items()):
        rows = []
        for side, measure, ratio in ((side, *entry) for side, measures in sides.items() for entry in measures.items()):
            samples = f"{number(ratio['sources'], 0)} sources" if "sources" in ratio else ""
            names = side.replace("_", " "), measure.replace("_", " ")
            rows.append(ForestRow(*names, samples, _change(ratio, "ratio"), True))
        caption = f"Compile cost at {level} by measure and stage, change against the packaged compiler in percent."
        blocks.append(Forest(caption, rows))
    return blocks


def _sides(figures: _Figures) -> list[str]:
    names = list(dict.fromkeys(side for sides in figures.values() for side in sides))
    baseline = next((name for name in _BASELINES if name in names), None)
    return sorted(names, key=lambda name: name != baseline)


def _values(figures: _Figures, name: str) -> dict[str, dict[str, float]]:
    """Program -> side -> figure of the measure `name`, where there is one."""
    return {
        program: {side: measures[name] for side, measures in sides.items() if is_number(measures.get(name))}
        for program, sides in figures.items()
    }


def _measured(figures: _Figures, name: str, caption: str) -> Table:
    """A row per program, a column per side, with the change."""
    first, *others = _sides(figures)
    rows = []
    for program, values in _values(figures, name).items():
        base = values.get(first)
        cells = [Cell(program), _number_cell(base)]
        for value in map(values.get, others):
            if value is None or not base:
                cells.append(_number_cell(value))
            else:
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
    for program, values in _values(figures, name).items():
        base = values.get(first)
        for side in others:
            if base and side in values:
                ratio = values[side] / base
                change = Change.of_ratios(ratio, ratio, ratio)  # A single value has no interval.
                rows.append(ForestRow(program, side_title(side), "", change, not is_without_ml(side)))
    return Forest(caption, rows)


def _symbols(program: str, entries: Sequence[Mapping[str, Any]]) -> Table:
    pairs = [(entry["symbol"], entry.get("default") or 0, entry.get("policy") or 0) for entry in entries]
    pairs.sort(key=lambda pair: (-abs(pair[2] - pair[1]), pair[0]))
    rows = []
    for symbol, before, after in pairs[:_SYMBOLS]:
        change = Cell(number(after - before, 0, signed=True), _exact_tone(after, before), True)
        rows.append((Cell.of_name(symbol), _number_cell(before), _number_cell(after), change))
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
