"""Finished traces by their folders alone, as the commands that come after them are given them: opened, and counted."""

import collections
import dataclasses
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
    stage, name = _problem_of(folder) if (folder / "modules").is_dir() else (None, None)
    if stage is None or name is None:
        raise RunError(f"{flag}={folder}", "is no finished trace", remedy)
    try:
        problem = load_problem(name)
    except ValueError as error:
        raise RunError(f"{flag}={folder}", str(error), remedy) from error
    modules = folder / "modules"
    paths = filter(pathlib.Path.is_file, modules.rglob(f"*{_SUFFIX}"))
    names = sorted(path.relative_to(modules).as_posix().removesuffix(_SUFFIX) for path in paths)
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
    if (folder / "modules").is_dir():
        return [folder]
    if found := sorted(path.parent for path in folder.glob("trace/*/modules")):
        return found
    remedy = "give the --output_dir of a training run, or a trace below it"
    raise RunError(f"--trace={folder}", "holds no trace", remedy)


def count_decisions(folders: Iterable[pathlib.Path], modules: Iterable[str]) -> dict[str, DecisionCounts]:
    """Counts by problem; a module in several traces of one counts once. Raises: RunError: unfinished or damaged."""
    names = list(modules)
    by_problem: dict[str, list[pathlib.Path]] = collections.defaultdict(list)
    for folder in folders:
        _, problem = _problem_of(folder)
        if problem is None:
            remedy = "let the run that makes it finish first"
            raise RunError(f"trace {folder}", "is not finished, or is no trace", remedy)
        by_problem[problem].append(folder)
    return {problem: _count(traces, names) for problem, traces in sorted(by_problem.items())}


def _count(traces: list[pathlib.Path], names: list[str]) -> DecisionCounts:
    outcomes = collections.Counter({**{outcome.value: 0 for outcome in Outcome}, "not in the trace": 0})
    decisions = functions = elsewhere = 0
    for name in names:
        paths = (trace / "modules" / f"{name}{_SUFFIX}" for trace in traces)
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


def _problem_of(folder: pathlib.Path) -> tuple[manifest.Manifest | None, str | None]:
    """The manifest of a finished trace and the name of its problem."""
    stage = manifest.read(folder)
    name = stage.configuration.get("problem") if stage else None
    return stage, name if isinstance(name, str) else None
