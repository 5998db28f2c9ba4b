"""Executed instructions and run time of a program, by compiler, and times that Google Benchmark in it takes.

Format of its file: docs/user_guide.md of Google Benchmark, `--benchmark_out_format=json`.
"""

import contextlib
import dataclasses
import math
import os
import pathlib
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.evaluation.programs.building import Toolchain, compile_objects, link
from mlgo.evaluation.programs.counters import Counter, Perf
from mlgo.evaluation.programs.lto_building import LTO_KINDS, link_through_lto
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.running import RunFailure, output_digests, run_program
from mlgo.evaluation.programs.size import count_runs, measure
from mlgo.evaluation.sides import Side
from mlgo.run import files
from mlgo.run.exit_codes import RunError

LEVEL = "-O2"
#: Counted events; the first one is the headline.
COUNTS = ("instructions", "data_references", "loads", "stores")
_COUNTED = ("instructions", "loads", "stores")
#: Sizes of the image, which stand beside what it executes.
SIZES = ("code_bytes",)
IMAGE = "program"
#: The same of programs whose code the linker generated: kind of LTO -> event -> name.
LTO_COUNTS = {kind: {event: f"{event}_{kind}_lto" for event in COUNTS} for kind in LTO_KINDS}

#: Names of measures that are times of a benchmark begin with it.
BENCHMARK = "benchmark "
_NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_REMEDY = "Give the run's `benchmark` arguments that this program's Google Benchmark knows"


def take_benchmarks(program: Program, image: pathlib.Path) -> dict[str, float]:
    """Measure -> CPU nanoseconds per iteration, of all runs of `program` with `benchmark`, which are executed for it.

    Raises: RunFailure: a run fails, or writes no times.
    """
    if not any(run.benchmark for run in program.runs):
        return {}
    with tempfile.TemporaryDirectory(prefix="mlgo-times-") as scratch:
        output = pathlib.Path(scratch, "times.json")
        found: dict[str, float] = {}
        writing = (f"--benchmark_out={output}", "--benchmark_out_format=json")
        runs = [
            dataclasses.replace(run, arguments=(*run.arguments, *run.benchmark, *writing), outputs=())
            for run in program.runs
            if run.benchmark
        ]
        timing = dataclasses.replace(program, runs=tuple(runs))
        for run, _, _ in run_program(timing, image, environment={"PATH": os.defpath}):
            found |= benchmark_times(run.name, output)
            output.unlink()
    return found


def benchmark_times(run: str, output: pathlib.Path) -> dict[str, float]:
    """Measure "benchmark RUN: NAME" -> CPU nanoseconds per iteration, of the file that a run wrote.

    Raises: RunFailure: it is no such file, or has no times.
    """
    subject = f"times of run {run}"
    try:
        entries = files.read_json(output, subject, _REMEDY)["benchmarks"]
        found = {f"{BENCHMARK}{run}: {entry['name']}": _nanoseconds(entry) for entry in entries if _ran(entry)}
    except (AttributeError, KeyError, TypeError, ValueError, RunError) as error:
        raise RunFailure(f"{subject}: Google Benchmark wrote no usable file ({error!r})") from error
    if not found:
        raise RunFailure(f"{subject}: no benchmark ran")
    return found


def _ran(entry: Mapping[str, Any]) -> bool:
    """Whether it is of a benchmark that ran: not of means over repetitions, of complexity, or of errors."""
    return entry.get("run_type", "iteration") == "iteration" and not entry.get("error_occurred")


def _nanoseconds(entry: Mapping[str, Any]) -> float:
    value = float(entry["cpu_time"]) * _NANOSECONDS[entry["time_unit"]]
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"cpu_time {value} of {entry['name']!r}")
    return value


def build_and_count(
    toolchain: Toolchain,
    side: Side,
    program: Program,
    counter: Counter,
    folder: pathlib.Path,
    lto: Sequence[str],
    building: contextlib.AbstractContextManager,
) -> dict[str, Any]:
    """Builds `program` on `side` at -O2 as `folder`/program and counts the events of its runs.

    Args: lto: kinds of LTO through which it is built and counted too; building: entered for compiles and links.
    Returns: {"counts": {RUN: {COUNT: int}}, "lto": {KIND: the same}, "outputs": {RUN: digest}, "code_bytes": of the
      program's own code in the image without LTO}.
    Raises: BuildFailure, RunFailure, CounterFailure; OutputDiffers: under the counter, or through LTO.
    """
    with tempfile.TemporaryDirectory(prefix="mlgo-build-") as scratch:
        images = {kind: pathlib.Path(scratch, kind) for kind in lto}
        with building:
            objects = compile_objects(toolchain, side, program, pathlib.Path(scratch), LEVEL)
            map_path = link(toolchain, side, program, objects, folder / IMAGE)
            code = measure(folder / IMAGE, map_path, pathlib.Path(scratch)).code_bytes
            map_path.unlink()
            for kind, image in images.items():
                link_through_lto(toolchain, side, program, kind, LEVEL, image)
        outputs = output_digests(program, folder / IMAGE, toolchain.target.emulator)
        counts = count_runs(counter, side, program, folder / IMAGE, outputs)
        through_lto = {kind: count_runs(counter, side, program, image, outputs) for kind, image in images.items()}
    return {"counts": counts, "lto": through_lto, "outputs": outputs, "code_bytes": code}


def figures(counts: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """COUNTS of a program, summed over its runs; data references are loads and stores."""
    total = {event: sum(of_run[event] for of_run in counts.values()) for event in _COUNTED}
    return {**total, "data_references": total["loads"] + total["stores"]}


def all_figures(measured: Mapping[str, Any]) -> dict[str, float]:
    """COUNTS, SIZES, and those of LTO_COUNTS that were measured. Args: measured: what `build_and_count` returns."""
    found: dict[str, float] = {
        **figures(measured["counts"]),
        **{name: measured[name] for name in SIZES if name in measured},
    }
    for kind, counts in measured.get("lto", {}).items():
        found |= {LTO_COUNTS[kind][event]: value for event, value in figures(counts).items()}
    return found


def time_in_turns(
    program: Program, images: Mapping[str, pathlib.Path], repeats: int, perf: Perf | None
) -> dict[str, dict[str, list[float]]]:
    """Runs the images in alternation, A B B A ..., so that other load on the machine affects all of them.

    Returns: side -> "wall_seconds", "cpu_seconds" and events of perf -> a number per repeat, summed over all runs; and
      the measures of take_benchmarks.
    Raises: RunFailure: a run fails.
    """
    found: dict[str, dict[str, list[float]]] = {side: {} for side in images}
    order = list(images)
    for turn in range(repeats):
        for side in order if turn % 2 == 0 else order[::-1]:
            for name, value in _one_turn(program, images[side], perf).items():
                found[side].setdefault(name, []).append(value)
    return found


def medians(samples: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: statistics.median(values) for name, values in samples.items()}


def _one_turn(program: Program, image: pathlib.Path, perf: Perf | None) -> dict[str, float]:
    taken = {"wall_seconds": 0.0, "cpu_seconds": 0.0}
    with tempfile.TemporaryDirectory(prefix="mlgo-perf-") as folder:
        output = pathlib.Path(folder, "counts")
        prefix = [] if perf is None else perf.command(output)
        for _, ended, _ in run_program(program, image, prefix, {"PATH": os.defpath}):
            taken["wall_seconds"] += ended.wall_seconds
            taken["cpu_seconds"] += ended.user_seconds + ended.system_seconds
            if perf is not None:
                for name, value in perf.parse(output.read_text(encoding="utf-8")).items():
                    taken[name] = taken.get(name, 0.0) + value
    return taken | take_benchmarks(program, image)
