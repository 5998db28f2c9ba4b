"""Times that Google Benchmark, inside a program, takes of its benchmarks.

Format of its file: docs/user_guide.md of Google Benchmark, `--benchmark_out_format=json`.
"""

import dataclasses
import math
import os
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

from mlgo.evaluation.programs.program import Program, ProgramRun
from mlgo.evaluation.programs.running import RunFailure, run_program
from mlgo.run import files
from mlgo.run.exit_codes import RunError

#: Names of measures that are times of a benchmark begin with it.
MEASURE = "benchmark "
_NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_REMEDY = "Give the run's `benchmark` arguments that this program's Google Benchmark knows"


def take(program: Program, image: pathlib.Path) -> dict[str, float]:
    """Measure -> CPU nanoseconds per iteration, of all runs of `program` with `benchmark`, which are executed for it.

    Raises: RunFailure: a run fails, or writes no times.
    """
    if not any(run.benchmark for run in program.runs):
        return {}
    with tempfile.TemporaryDirectory(prefix="mlgo-times-") as scratch:
        written = {run.name: pathlib.Path(scratch, f"{index}.json") for index, run in enumerate(program.runs)}
        runs = [_timed(run, written[run.name]) for run in program.runs if run.benchmark]
        timing = dataclasses.replace(program, runs=tuple(runs))
        found: dict[str, float] = {}
        for run, _, _ in run_program(timing, image, environment={"PATH": os.defpath}):
            found |= times(run.name, written[run.name])
    return found


def _timed(run: ProgramRun, output: pathlib.Path) -> ProgramRun:
    words = (*run.arguments, *run.benchmark, f"--benchmark_out={output}", "--benchmark_out_format=json")
    return dataclasses.replace(run, arguments=words, outputs=())


def times(run: str, output: pathlib.Path) -> dict[str, float]:
    """Measure "benchmark RUN: NAME" -> CPU nanoseconds per iteration, of the file that a run wrote.

    Raises: RunFailure: it is no such file, or has no times.
    """
    subject = f"times of run {run}"
    try:
        content = files.read_json(output, subject, _REMEDY)
        found = {f"{MEASURE}{run}: {entry['name']}": _nanoseconds(entry) for entry in _measured(content)}
    except (AttributeError, KeyError, TypeError, ValueError, RunError) as error:
        raise RunFailure(f"{subject}: Google Benchmark wrote no usable file ({error!r})") from error
    if not found:
        raise RunFailure(f"{subject}: no benchmark ran")
    return found


def _measured(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Entries of benchmarks that ran: not those of means over repetitions, of complexity, and of errors."""
    return [
        entry
        for entry in content["benchmarks"]
        if entry.get("run_type", "iteration") == "iteration" and not entry.get("error_occurred")
    ]


def _nanoseconds(entry: Mapping[str, Any]) -> float:
    value = float(entry["cpu_time"]) * _NANOSECONDS[entry["time_unit"]]
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"cpu_time {value} of {entry['name']!r}")
    return value
