"""The section about real programs: size, run time, compile cost. Parts that a result lacks are omitted."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlgo.evaluation.sides import is_without_ml, side_and_cost
from mlgo.evaluation.verdict import Claim
from mlgo.reporting import drawings
from mlgo.reporting.page import (
    Block,
    Card,
    Cell,
    Change,
    Details,
    Point,
    Section,
    Table,
    Tone,
    grouped_section,
    tone_of,
)
from mlgo.reporting.records import Programs
from mlgo.reporting.scale import is_number, number
from mlgo.reporting.titles import side_title

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

#: Names of the side that others are compared with; otherwise the first side.
_BASELINES = ("default", "packaged")

#: How many symbols of a program are shown.
_SYMBOLS = 12


def programs_section(records: Sequence[Programs]) -> Section | None:
    """Tables of size and run time; None: there is nothing."""
    groups = [(record.name, _blocks(record.content)) for record in records]
    return grouped_section("programs", "Real programs", "Programs", groups)


def cards(records: Sequence[Programs]) -> list[Card]:
    """The headline figures of every policy."""
    found = []
    for record in records:
        for part, (measure, words) in _HEADLINES.items():
            for side, total in _totals(record.content, part, measure):
                if _has_policy(side):
                    worst, named = total.get("worst"), ""
                    if _are_numbers(worst, ("ratio",)):
                        change = drawings.percent(100.0 * (worst["ratio"] - 1.0))
                        named = f"; worst {worst.get('program')} {change}"
                    title = f"{words[:1].upper()}{words[1:]} of real programs"
                    title += f" ({side_title(side)})" if side_and_cost(side) else ""
                    title = f"{record.name}: {title}" if len(records) > 1 else title
                    samples = f"{_programs_note(total)}{named}" if "programs" in total else side
                    found.append(Card(title, _change(total), f"{side}, geometric mean", samples))
    return found


def points(records: Sequence[Programs]) -> list[Point]:
    """The verdicts that results have; those of earlier versions have none."""
    found = []
    for record in records:
        for part, sides in (record.content.get("verdicts") or {}).items():
            words = _HEADLINES[part][1]
            found += [
                Point(tone_of(Claim(of["claim"])), f"Real programs, {words}, {side_title(side)}: {of['sentence']}.")
                for side, of in sides.items()
            ]
    return found


def _blocks(content: Mapping[str, Any]) -> list[Block]:
    blocks: list[Block] = []
    for part, (measure, words) in _HEADLINES.items():
        totals = list(_totals(content, part, measure))
        if totals:
            rows = [
                ("", side_title(side), _programs_note(total), _change(total), _has_policy(side))
                for side, total in totals
            ]
            caption = (
                f"All programs, {words}: geometric mean, change against the default in percent, interval over programs."
            )
            blocks.append(drawings.forest(caption, rows))
    for key, title, names in (
        ("size", "Size, bytes", _SIZES),
        ("executed", "Execution at -Oz", _COUNTS),
        ("run", "Execution", _COUNTS),
    ):
        table, drawn = _of_programs(content.get(key)), False
        for name, words in names.items():
            if (own := _measured(table, name, f"{title}: {words}")) is not None:
                # Only the first measure of a part is drawn; the others are tables.
                caption = f"{title}: {words}, by program, in percent of {_sides(table)[0]}."
                drawing = None if drawn else _drawn(table, name, caption)
                drawn = True
                blocks += [own] if drawing is None else [drawing, own]
    if symbols := _symbols(content.get("symbols")):
        blocks.append(Details("Largest changes by function", symbols))
    blocks += _cost(content.get("cost"))
    for key, title in (("left_out", "Omitted programs"), ("differing", "Programs whose builds behave differently")):
        rows = [(Cell(path), Cell(text)) for path, text in _flat(content.get(key)) if path]
        if rows:
            blocks.append(Table(title, ("program", "reason"), rows))
    if blocks and isinstance(content.get("totals"), Mapping):
        every = [(Cell(path), Cell(text, number=True)) for path, text in _flat(content["totals"])]
        blocks.append(Details("All totals", [Table("Totals over programs.", ("what", "figure"), every)]))
    return blocks


def _totals(content: Mapping[str, Any], part: str, measure: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(side, total of `measure`), policies first."""
    totals = content.get("totals")
    of_part = totals.get(part) if isinstance(totals, Mapping) else None
    if not isinstance(of_part, Mapping):
        return
    for side, measures in sorted(of_part.items(), key=lambda entry: (not _has_policy(entry[0]), entry[0])):
        total = measures.get(measure) if isinstance(measures, Mapping) else None
        if _are_numbers(total, ("geometric_mean", "low", "high")):
            yield side, total


def _has_policy(side: str) -> bool:
    """Whether a policy decides, or another compiler; else the heuristic with another threshold or cost."""
    return not is_without_ml(side)


def _change(total: Mapping[str, Any], middle: str = "geometric_mean") -> Change:
    return Change(*(100.0 * (float(total[name]) - 1.0) for name in (middle, "low", "high")))


def _are_numbers(value: Any, names: Sequence[str]) -> bool:
    """Whether `value` has a number under each of `names`."""
    return isinstance(value, Mapping) and all(is_number(value.get(name)) for name in names)


def _programs_note(total: Mapping[str, Any]) -> str:
    if "programs" not in total:
        return ""
    return f"{total['programs']} program{'' if total['programs'] == 1 else 's'}"


def _cost(value: Any) -> list[Block]:
    """Level -> side -> measure -> ratio with its interval."""
    blocks: list[Block] = []
    for level, sides in sorted(value.items()) if isinstance(value, Mapping) else ():
        rows = [
            (
                side.replace("_", " "),
                measure.replace("_", " "),
                f"{number(ratio['sources'], 0)} sources" if _are_numbers(ratio, ("sources",)) else "",
                _change(ratio, "ratio"),
                True,
            )
            for side, measures in (sides.items() if isinstance(sides, Mapping) else ())
            for measure, ratio in (measures.items() if isinstance(measures, Mapping) else ())
            if _are_numbers(ratio, ("ratio", "low", "high"))
        ]
        if rows:
            blocks.append(
                drawings.forest(
                    f"Compile cost at {level} by measure and stage, change against the packaged compiler in percent.",
                    rows,
                )
            )
    return blocks


def _of_programs(value: Any) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Program -> side -> figures; other content is ignored."""
    if not isinstance(value, Mapping):
        return {}
    found = {
        program: {side: figures for side, figures in sides.items() if isinstance(figures, Mapping)}
        for program, sides in value.items()
        if isinstance(sides, Mapping)
    }
    return {program: sides for program, sides in sorted(found.items()) if sides}


def _sides(table: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The sides, the baseline first."""
    names = list(dict.fromkeys(side for sides in table.values() for side in sides))
    baseline = next((name for name in _BASELINES if name in names), None)
    return names if baseline is None else [baseline, *(name for name in names if name != baseline)]


def _value(table, program: str, side: str, name: str) -> float | None:
    value = table[program].get(side, {}).get(name)
    return value if is_number(value) else None


def _measured(table: Mapping[str, Mapping[str, Any]], name: str, caption: str) -> Table | None:
    """A row per program, a column per side, with the change; None: not measured."""
    if not any(_value(table, program, side, name) is not None for program in table for side in table[program]):
        return None
    first, *others = _sides(table)
    rows = []
    for program in table:
        base = _value(table, program, first, name)
        cells = [Cell(program), Cell("" if base is None else _number(base), number=True)]
        for side in others:
            value = _value(table, program, side, name)
            if value is None or not base:
                cells.append(Cell("" if value is None else _number(value), number=True))
                continue
            change = 100.0 * (value / base - 1.0)
            # Sizes and counts are exact; what a single time is worth is unknown.
            tone = Tone.PLAIN if name in _NOISY else _exact_tone(value, base)
            cells.append(Cell(f"{_number(value)} ({drawings.percent(change)})", tone, True))
        rows.append(tuple(cells))
    return Table(caption, ("program", first, *others), rows)


def _exact_tone(value: float, base: float) -> Tone:
    return Tone.BETTER if value < base else Tone.WORSE if value > base else Tone.EQUAL


def _drawn(table: Mapping[str, Mapping[str, Any]], name: str, caption: str) -> Block | None:
    first, *others = _sides(table)
    rows = []
    for program in table:
        for side in others:
            value, base = _value(table, program, side, name), _value(table, program, first, name)
            if value is not None and base:
                change = 100.0 * (value / base - 1.0)
                # A single value has no interval.
                rows.append((program, side_title(side), "", Change(change, change, change), _has_policy(side)))
    return drawings.forest(caption, rows) if rows else None


def _symbols(value: Any) -> list[Block]:
    blocks: list[Block] = []
    if not isinstance(value, Mapping):
        return blocks
    for program, entries in sorted(value.items()):
        listed = entries if isinstance(entries, list) else []
        known = [entry for entry in listed if isinstance(entry, Mapping) and "symbol" in entry]
        sizes = (
            [entry[side] if is_number(entry.get(side)) else 0 for side in ("default", "policy")] for entry in known
        )
        pairs = [(str(entry["symbol"]), *pair) for entry, pair in zip(known, sizes)]
        pairs.sort(key=lambda entry: (-abs(entry[2] - entry[1]), entry[0]))
        rows = [
            (
                Cell.of_name(symbol),
                Cell(_number(before), number=True),
                Cell(_number(after), number=True),
                Cell(number(after - before, 0, signed=True), Tone.BETTER if after < before else Tone.WORSE, True),
            )
            for symbol, before, after in pairs[:_SYMBOLS]
        ]
        if rows:
            blocks.append(
                Table(
                    f"{program}: functions that changed most, bytes.", ("function", "default", "policy", "change"), rows
                )
            )
    return blocks


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """(path, text) of every figure in nested mappings; a value with its interval is one figure."""
    if isinstance(value, Mapping):
        if _are_numbers(value, ("geometric_mean", "low", "high")):
            yield path, drawings.figures(_change(value))
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


def _number(value: float) -> str:
    return number(value, 0 if isinstance(value, int) or abs(value) >= 1000 else 3)
