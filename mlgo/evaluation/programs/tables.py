"""The results as Markdown tables and CSV."""

from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.compiler.symbols import Demangler
from mlgo.evaluation.programs.cost import MEASURES, STAGES
from mlgo.evaluation.programs.counters import CHOSEN
from mlgo.evaluation.programs.run_time import COUNTS, LTO_COUNTS
from mlgo.evaluation.programs.run_time import SIZES as RUN_SIZES
from mlgo.evaluation.programs.size import LTO_SIZES, SIZES
from mlgo.evaluation.sides import DEFAULT
from mlgo.evaluation.statistics import percent_text as percent
from mlgo.run.tabular import encode_csv, markdown_code, markdown_head, markdown_row

_SIZE_TITLES = {
    "code_bytes": "code",
    "code_bytes_icf": "code, ICF",
    "code_bytes_thinlto": "code, ThinLTO",
    LTO_SIZES["thin"]: "code, ThinLTO in the linker",
    LTO_SIZES["full"]: "code, full LTO in the linker",
    "executable_bytes": "all executable sections",
    "file_bytes": "file",
}


def with_interval(total: Mapping[str, Any], mean: str = "geometric_mean") -> str:
    """The change of key `mean` for display: "-1.40 % [-2.10, -0.70]", without interval for one sample."""
    if next(total[name] for name in ("programs", "sources", "repeats") if name in total) < 2:
        return percent(total[mean])
    low, high = (100.0 * (total[name] - 1.0) for name in ("low", "high"))
    return f"{percent(total[mean])} [{low:+.2f}, {high:+.2f}]"


def to_csv(result: Mapping[str, Any]) -> bytes:
    rows = (
        (part, program, side, measure, value, value / base if value is not None and base else None)
        for part in ("size", "executed", "run")
        for program, sides in sorted(result[part].items())
        for side, of_side in sorted(sides.items())
        for measure, value in sorted(of_side.items())
        for base in (sides[DEFAULT].get(measure),)
    )
    return encode_csv(["part", "program", "side", "measure", "value", "ratio_to_default"], rows)


def markdown(result: Mapping[str, Any], demangler: Demangler | None = None) -> str:
    """All tables. Args: demangler: of names of functions; None: they stay mangled."""
    said = "Against the default; minus is better. Intervals are 95 % bootstraps, over programs or sources."
    parts = ["# Real programs", "", said]
    if any("profiles" in program for program in result.get("programs", {}).values()):
        said = "All sides are compiled with profiles (-fprofile-use) of runs with other inputs than the measured ones."
        parts.append(said)
    if result["size"]:
        title = "## Size at -Oz: the program's own code in the linked image"
        parts += ["", title, "", *size_lines(result), *_symbol_lines(result, demangler or Demangler())]
    for part, level in (("executed", "-Oz"), ("run", "-O2")):
        if result[part]:
            title = f"## What runs at {level}: counted by {result['counters']['counts']}"
            parts += ["", title, "", *run_lines(result, part)]
    if benchmarks := result["totals"].get("benchmarks"):
        parts += ["", "## CPU times that Google Benchmark takes at -O2", "", *benchmark_lines(benchmarks)]
    for level, sides in sorted(result["cost"].items()):
        parts += ["", f"## What compiling at {level} takes", "", *cost_lines(sides)]
    titles = {"size": "Size at -Oz", "run": "Execution at -O2"}
    parts.append("")
    for part, sides in result["verdicts"].items():
        parts += [f"- {titles[part]}, {side}: {found['sentence']}" for side, found in sides.items()]
    parts.append("")
    for kind, title in (("left_out", "Left out of"), ("differing", "DIFFERENT OUTPUT in")):
        for part, found in result[kind].items():
            parts += [f"{title} {part}: {program}: {why}" for program, why in found.items()]
    return "\n".join(parts).rstrip() + "\n"


def size_lines(result: Mapping[str, Any]) -> list[str]:
    """Bytes of the default and changes of the other sides per program; then means over programs of all measures."""
    table, totals = result["size"], result["totals"]["size"]
    sides = [side for side in next(iter(table.values())) if side != DEFAULT]
    lines = markdown_head(["program", *(_side_title(side, "size", result, " bytes") for side in (DEFAULT, *sides))])
    for program, of_program in table.items():
        base = of_program[DEFAULT]["code_bytes"]
        changes = [percent(of_program[side]["code_bytes"] / base) for side in sides]
        lines.append(markdown_row([program, f"{base:,}", *changes]))
    for measure in (*SIZES, *LTO_SIZES.values()):
        known = [totals.get(side, {}).get(measure) for side in sides]
        if any(known):
            lines.append(_means(f"geometric mean of {{}}, {_SIZE_TITLES[measure]}", known))
            lines += _unseen_line(result, "size", [(side, measure) for side in sides])
    lines.append(markdown_row(["worst, code", "", *(_worst(totals[side]["code_bytes"]) for side in sides)]))
    return lines


def run_lines(result: Mapping[str, Any], part: str) -> list[str]:
    """Instructions of the default and changes of the other sides per program; then means over programs.

    Times and events of perf, which only the part "run" has, are changes of medians with intervals.
    """
    table, totals = result[part], result["totals"][part]
    sides = [side for side in next(iter(table.values())) if side != DEFAULT]
    through_lto = [counts[name] for counts in LTO_COUNTS.values() for name in ("instructions", "data_references")]
    chosen = sorted({name for of_side in totals.values() for name in of_side if name.startswith(CHOSEN)})
    measures = (*COUNTS, *RUN_SIZES, "cpu_seconds", "cycles", *chosen, *through_lto)
    columns = [(side, measure) for side in sides for measure in measures if measure in totals.get(side, {})]
    heads = [f"{_side_title(side, part, result)}: {measure.replace('_', ' ')}" for side, measure in columns]
    lines = markdown_head(["program", _side_title(DEFAULT, part, result, " instructions"), *heads])
    for program, of_program in table.items():
        base = of_program[DEFAULT]
        timed = result["run_times"].get(program, {}) if part == "run" else {}
        changes = [
            with_interval(timed[side][measure], "ratio")
            if measure in timed.get(side, {})
            else percent(of_program[side][measure] / base[measure])
            for side, measure in columns
        ]
        lines.append(markdown_row([program, f"{base['instructions']:,}", *changes]))
    means = [with_interval(totals[side][measure]) for side, measure in columns]
    lines.append(markdown_row([f"geometric mean of {len(table)}", "", *means]))
    lines += _unseen_line(result, part, columns)
    lines.append(markdown_row(["worst", "", *(_worst(totals[side][measure]) for side, measure in columns)]))
    return lines


def benchmark_lines(totals: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[str]:
    """The mean change over a program's benchmarks by side, with its interval, and the worst benchmark."""
    sides = list(dict.fromkeys(side for of_program in totals.values() for side in of_program))
    lines = markdown_head(["program", "benchmarks", *(title for side in sides for title in (side, f"{side}: worst"))])
    for program, of_program in totals.items():
        known = [of_program.get(side) for side in sides]
        cells = [cell for total in known for cell in ((with_interval(total), _worst(total)) if total else ("", ""))]
        count = max(total["programs"] for total in known if total)
        lines.append(markdown_row([program, f"{count}", *cells]))
    return lines


def _unseen_line(result: Mapping[str, Any], part: str, columns: Sequence[tuple[str, str]]) -> list[str]:
    """The means over programs that training did not see, one per (side, measure); empty: none is known."""
    totals = result["totals"].get("unseen", {}).get(part, {})
    known = [totals.get(side, {}).get(measure) for side, measure in columns]
    return [_means("the same, {} that training did not see", known)] if any(known) else []


def _means(title: str, totals: Sequence[Mapping[str, Any] | None]) -> str:
    """A row of means. Args: title: with {} for the number of programs; totals: one is known."""
    count = max(total["programs"] for total in totals if total)
    return markdown_row([title.format(count), "", *(with_interval(total) if total else "" for total in totals)])


def cost_lines(sides: Mapping[str, Mapping[str, Any]]) -> list[str]:
    names = [name for name in (*MEASURES, *STAGES) if any(name in of_side for of_side in sides.values())]
    lines = markdown_head(["", "default", *sides])
    for name in names:
        first = next(of_side[name] for of_side in sides.values() if name in of_side)
        if name == "memory_mb":
            cells = [f"{of_side[name]['more']:+.1f} MB" for of_side in sides.values()]
            lines.append(markdown_row(["peak memory, median", f"{first['base_median']:.1f} MB", *cells]))
        else:
            cells = [with_interval(of_side[name], "ratio") if name in of_side else "" for of_side in sides.values()]
            title = name.removesuffix("_seconds").replace("_", " ") + ("" if name in MEASURES else " (trace, wall)")
            lines.append(markdown_row([title, f"{first['base_sum']:.2f} s", *cells]))
    sources = max(of_side["cpu_seconds"]["sources"] for of_side in sides.values())
    return [*lines, "", f"{sources} sources; of each the median of its turns; sums over the sources are compared."]


def _symbol_lines(result: Mapping[str, Any], demangler: Demangler, count: int = 5) -> list[str]:
    title = f"The functions that changed most (the {count} largest changes of each program; more in result.json):"
    lines = ["", title, ""]
    lines += markdown_head(["program", "function", "default, bytes", "policy, bytes"])
    for program, rows in result["symbols"].items():
        largest = sorted(rows, key=lambda row: (-abs(row["policy"] - row["default"]), row["symbol"]))[:count]
        for row, name in zip(largest, demangler.texts(row["symbol"] for row in largest)):
            sizes = (f"{row[side]:,}" for side in ("default", "policy"))
            lines.append(markdown_row([program, markdown_code(name), *sizes]))
    return lines if any(result["symbols"].values()) else []


def _side_title(side: str, part: str, result: Mapping[str, Any], unit: str = "") -> str:
    """The head of a column. Args: unit: of the column of the default, which has no changes."""
    title = f"{side},{unit}" if side == DEFAULT else side
    return f"{title} (best without ML)" if side == result["without_ml"].get(part) else title


def _worst(total: Mapping[str, Any]) -> str:
    return f"{percent(total['worst']['ratio'])} {total['worst']['program']}"
