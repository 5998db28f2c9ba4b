"""Compile cost: time and memory of compiling real sources with several compilers in alternation."""

import json
import pathlib
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlgo.evaluation.programs.building import BuildFailure, Toolchain, compile_command, run_tool
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.run_time import medians
from mlgo.evaluation.sides import Side
from mlgo.evaluation.statistics import summarize_totals

#: Measures of a compile without a trace.
MEASURES = ("cpu_seconds", "wall_seconds", "memory_mb")

#: Stage -> total in the trace. The register allocator has no total and is summed over functions.
_TOTALS = {
    "front_end": "Total Frontend",
    "optimiser": "Total Optimizer",
    "code_generation": "Total CodeGenPasses",
    "inliner": "Total InlinerPass",
}
_ALLOCATOR = "Greedy Register Allocator"
#: The inliner is a part of the optimiser, the allocator of code generation.
STAGES = (*_TOTALS, "register_allocator")
#: Shorter passes over one function are not listed, microseconds; one allocation takes about 100.
GRANULARITY = 20

#: source -> side -> measure or stage -> one number per turn.
Samples = dict[str, dict[str, dict[str, list[float]]]]


def chosen_sources(program: Program, count: int) -> list[str]:
    """`count` of the program's sources, evenly spread over their sizes, including the largest."""
    paths = [path for path, _ in program.units() if not path.endswith(".S")]
    by_size = sorted(paths, key=lambda path: (-(program.root / path).stat().st_size, path))
    if count >= len(by_size):
        return by_size
    return [by_size[index * len(by_size) // count] for index in range(count)]


def measure_sources(
    toolchain: Toolchain,
    sides: Sequence[Side],
    program: Program,
    level: str,
    sources: Sequence[str],
    turns: int,
    done: Callable[[], None],
) -> Samples:
    """Compiles each source with each side `turns` times (A B C C B A ...), each time without and with -ftime-trace.

    Raises: BuildFailure: a compile fails, or leaves no trace.
    """
    samples: Samples = {path: {side.name: {} for side in sides} for path in sources}
    for path, found in samples.items():
        for turn in range(turns):
            for side in sides if turn % 2 == 0 else sides[::-1]:
                command = compile_command(toolchain, side, program, path, level, ())
                for name, value in _compile(side, program, path, command).items():
                    found[side.name].setdefault(name, []).append(value)
        done()
    return samples


def _compile(side: Side, program: Program, path: str, command: list[str]) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="mlgo-cost-") as folder:
        output, trace = pathlib.Path(folder, "unit.o"), pathlib.Path(folder, "trace.json")
        tracing = [f"-ftime-trace={trace}", f"-ftime-trace-granularity={GRANULARITY}"]
        words = ([*command, *more, "-o", str(output)] for more in ([], tracing))
        ended, _ = (run_tool(side, path, each, program.directory_of(path)) for each in words)
        try:
            stages = parse_time_trace(trace.read_bytes())
        except (OSError, TraceFailure) as error:
            raise BuildFailure(f"{side.name}: {path}: its time trace {error}") from error
    cpu = ended.user_seconds + ended.system_seconds
    return {"cpu_seconds": cpu, "wall_seconds": ended.wall_seconds, "memory_mb": ended.memory_mb, **stages}


def summarize_cost(
    samples: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]], base: str, seed: int
) -> dict[str, Any]:
    """Each side against `base`: the sum over sources of the median of their turns, and the ratio with its interval.

    Returns: side -> measure or stage -> {"sum", "base_sum", "ratio", "low", "high", "sources"}, without stages that did
    not run. `memory_mb` has "median", "base_median" and "more", the median of the differences, instead.
    """
    middle = {source: {side: medians(of_side) for side, of_side in sides.items()} for source, sides in samples.items()}
    names = list(next(iter(middle.values()), {}))
    return {side: _against(middle, side, base, seed) for side in names if side != base}


def _against(
    middle: Mapping[str, Mapping[str, Mapping[str, float]]], side: str, base: str, seed: int
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in (*MEASURES, *STAGES):
        pairs = {source: (of_sides[side][name], of_sides[base][name]) for source, of_sides in middle.items()}
        if name == "memory_mb":
            more = statistics.median(new - old for new, old in pairs.values())
            new, old = (statistics.median(values) for values in zip(*pairs.values()))
            middles = {"median": round(new, 2), "base_median": round(old, 2), "more": round(more, 2)}
            found[name] = {**middles, "sources": len(pairs)}
        elif sum(old for _, old in pairs.values()) > 0 and (summary := summarize_totals(pairs, seed)) is not None:
            new, old = (sum(values) for values in zip(*pairs.values()))
            ratio = {"ratio": summary.geometric_mean, "low": summary.low, "high": summary.high}
            found[name] = {"sum": round(new, 6), "base_sum": round(old, 6), **ratio, "sources": summary.modules}
    return found


class TraceFailure(Exception):
    """A file is not a time trace."""


def parse_time_trace(content: bytes) -> Mapping[str, float]:
    """Seconds by stage; 0 for one that did not run. Raises: TraceFailure: it is not a time trace of a compile."""
    try:
        events = json.loads(content)["traceEvents"]
        totals = {event["name"]: float(event["dur"]) for event in events if str(event["name"]).startswith("Total ")}
        passes = (event for event in events if event["name"] == "RunPass")
        allocator = sum(float(event["dur"]) for event in passes if event["args"].get("detail") == _ALLOCATOR)
    except (ValueError, OverflowError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TraceFailure(f"is not a time trace: {error!r}") from error
    if "Total Backend" not in totals and "Total Frontend" not in totals:
        raise TraceFailure("is not a time trace of a compile")
    seconds = {stage: totals.get(name, 0.0) / 1e6 for stage, name in _TOTALS.items()}
    return {**seconds, "register_allocator": allocator / 1e6}
