"""Finished traces by their folders alone, as the commands that come after them are given them: opened, and counted."""

import collections
import dataclasses
import os
import pathlib
from collections.abc import Iterable

from mlgo.problems.problem import Problem, load_problem
from mlgo.run import manifest
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.score.function_scores import NON_FUNCTION_BYTES
from mlgo.trace.outcomes import Outcome, read_record
from mlgo.trace.trace import Trace

_SUFFIX = ".json"


def open_trace(folder: pathlib.Path, flag: str) -> tuple[Trace, Problem, manifest.Manifest]:
    """The trace in `folder`, the problem it is of, and its manifest; messages call it `flag`.

    Raises: RunError: there is none, it is unfinished or damaged, or no module in it has a decision.
    """
    remedy = "Give an --output_path that //mlgo:generate_default_trace has finished, or trace/train of a training run"
    if not (folder / "modules").is_dir() and (folder / "trace" / "default" / "modules").is_dir():
        folder = folder / "trace" / "default"
    stage = manifest.read(folder) if (folder / "modules").is_dir() else None
    name = stage.configuration.get("problem") if stage else None
    if stage is None or not isinstance(name, str):
        raise RunError(f"{flag}={folder}", "is no finished trace", remedy)
    try:
        problem = load_problem(name)
    except ValueError as error:
        raise RunError(f"{flag}={folder}", str(error), remedy) from error
    modules = folder / "modules"
    names = []
    for directory, _, files in os.walk(modules):
        names += [os.path.relpath(os.path.join(directory, file), modules) for file in files if file.endswith(_SUFFIX)]
    names = sorted(name.removesuffix(_SUFFIX) for name in names)
    trace = Trace(folder, {name: read_record(modules / f"{name}{_SUFFIX}") for name in names})
    if not trace.traced:
        raise RunError(f"{flag}={folder}", "has no module with a decision", remedy, ExitCode.NOTHING_PRODUCED)
    return trace, problem, stage


@dataclasses.dataclass(frozen=True)
class DecisionCounts:
    """Of one problem."""

    decisions: int  #: in all traced modules.
    functions: int  #: of the objects, that have decisions.
    #: those of the decisions that are in no function of an object: it was inlined everywhere, or the compiler does not
    #: name it.
    elsewhere: int
    #: how many modules had which outcome ("traced", "no decisions", "failed", "not in the trace").
    modules: dict[str, int]


def stage_folders(folder: pathlib.Path) -> list[pathlib.Path]:
    """The traces at `folder`: a trace's own folder, or that of a run, which has several. Raises: RunError: none."""
    found = (
        [folder] if (folder / "modules").is_dir() else sorted(path.parent for path in folder.glob("trace/*/modules"))
    )
    if not found:
        wrong = "holds no trace"
        raise RunError(f"--trace={folder}", wrong, "give the --output_dir of a training run, or a trace below it")
    return found


def count_decisions(folders: Iterable[pathlib.Path], modules: Iterable[str]) -> dict[str, DecisionCounts]:
    """Counts by name of the problem, over all `folders`; a module in several traces of a problem counts once.

    Raises: RunError: a trace is unfinished or damaged.
    """
    names = list(modules)
    by_problem: dict[str, list[pathlib.Path]] = collections.defaultdict(list)
    for folder in folders:
        by_problem[_problem_of(folder)].append(folder)
    return {problem: _count(traces, names) for problem, traces in sorted(by_problem.items())}


def _count(traces: list[pathlib.Path], names: list[str]) -> DecisionCounts:
    outcomes = collections.Counter({**{outcome.value: 0 for outcome in Outcome}, "not in the trace": 0})
    decisions = functions = elsewhere = 0
    for name in names:
        paths = (trace / "modules" / f"{name}.json" for trace in traces)
        path = next((path for path in paths if path.exists()), None)
        if path is None:
            outcomes["not in the trace"] += 1
            continue
        record = read_record(path)
        outcomes[record.outcome.value] += 1
        decisions += record.decisions
        functions += record.deciding_functions
        rest = record.functions.get(NON_FUNCTION_BYTES)
        elsewhere += 0 if rest is None else rest.decisions
    return DecisionCounts(decisions, functions, elsewhere, dict(outcomes))


def _problem_of(folder: pathlib.Path) -> str:
    stage = manifest.read(folder)
    problem = stage.configuration.get("problem") if stage else None
    if not isinstance(problem, str):
        raise RunError(f"trace {folder}", "is not finished, or is no trace", "let the run that makes it finish first")
    return problem
