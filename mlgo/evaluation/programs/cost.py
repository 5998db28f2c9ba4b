"""What compiling with a policy takes: time and memory of real sources, compiler against compiler, in turns."""

import os
import pathlib
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlgo.evaluation.programs import child
from mlgo.evaluation.programs.building import BuildFailure, Side, Toolchain, compile_command
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.time_trace import GRANULARITY, STAGES, TraceFailure, parse_time_trace
from mlgo.evaluation.statistics import summarize_totals

_SECONDS = 600
#: What is measured of a compile without a trace.
MEASURES = ("cpu_seconds", "wall_seconds", "memory_mb")

#: source -> side -> measure or stage -> a number per turn.
Samples = dict[str, dict[str, dict[str, list[float]]]]


def chosen_sources(program: Program, count: int) -> list[str]:
    """`count` of the program's sources, evenly over their sizes, the largest among them: few large ones take most of the time."""
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
    """Compiles each of `sources` on each of `sides` `turns` times, in turns (A B C C B A ...), and as often with -ftime-trace.

    Apart, since writing a trace takes time of its own.

    Args: done: called after every source.
    Raises: BuildFailure: a compile fails, or leaves no trace.
    """
    samples: Samples = {}
    for path in sources:
        found: dict[str, dict[str, list[float]]] = {side.name: {} for side in sides}
        for turn in range(turns):
            for side in sides if turn % 2 == 0 else sides[::-1]:
                command = compile_command(toolchain, side, program, path, level, ())
                for name, value in _compile(side, program, path, command).items():
                    found[side.name].setdefault(name, []).append(value)
        samples[path] = found
        done()
    return samples


def _compile(side: Side, program: Program, path: str, command: list[str]) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="mlgo-cost-") as folder:
        output, trace = pathlib.Path(folder, "unit.o"), pathlib.Path(folder, "trace.json")
        tracing = [f"-ftime-trace={trace}", f"-ftime-trace-granularity={GRANULARITY}"]
        ended, _ = (_ended(side, program, path, [*command, *more, "-o", str(output)]) for more in ([], tracing))
        try:
            stages = parse_time_trace(trace.read_bytes())
        except (OSError, TraceFailure) as error:
            raise BuildFailure(f"{side.name}: {path}: its time trace {error}") from error
    cpu = ended.user_seconds + ended.system_seconds
    return {"cpu_seconds": cpu, "wall_seconds": ended.wall_seconds, "memory_mb": ended.memory_mb, **stages}


def _ended(side: Side, program: Program, path: str, command: list[str]) -> child.Ended:
    try:
        ended = child.run(command, program.root, _SECONDS, environment={"PATH": os.defpath})
    except child.NotRun as error:
        raise BuildFailure(f"{side.name}: {path}: {error}") from error
    if ended.exit_code:
        raise BuildFailure(f"{side.name}: {path}: exit code {ended.exit_code}: {ended.last_words()}")
    return ended


def summarize_cost(
    samples: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]], base: str, seed: int, resamples: int = 10_000
) -> dict[str, Any]:
    """Each side against `base`: of each source the median of its turns, and the ratio of their sums with its 95 % interval over sources.

    Returns: side -> measure or stage -> {"sum", "base_sum", "ratio", "low", "high", "sources"}; a stage that did not run is left out.
    `memory_mb` is "median", "base_median" and the median of the sources' own differences, "more", in place of sums and ratio.
    """
    middle = {
        source: {
            side: {name: statistics.median(values) for name, values in of_side.items()}
            for side, of_side in sides.items()
        }
        for source, sides in samples.items()
    }
    names = list(next(iter(middle.values()), {}))
    return {side: _against(middle, side, base, seed, resamples) for side in names if side != base}


def _against(
    middle: Mapping[str, Mapping[str, Mapping[str, float]]], side: str, base: str, seed: int, resamples: int
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in (*MEASURES, *STAGES):
        pairs = {source: (of_sides[side][name], of_sides[base][name]) for source, of_sides in middle.items()}
        if name == "memory_mb":
            more = statistics.median(new - old for new, old in pairs.values())
            new, old = (statistics.median(values) for values in zip(*pairs.values()))
            found[name] = {
                "median": round(new, 2),
                "base_median": round(old, 2),
                "more": round(more, 2),
                "sources": len(pairs),
            }
        elif (
            sum(old for _, old in pairs.values()) > 0
            and (summary := summarize_totals(pairs, seed, resamples)) is not None
        ):
            new, old = (sum(values) for values in zip(*pairs.values()))
            ratio = {
                "ratio": summary.geometric_mean,
                "low": summary.low,
                "high": summary.high,
                "sources": summary.modules,
            }
            found[name] = {"sum": round(new, 6), "base_sum": round(old, 6), **ratio}
    return found
