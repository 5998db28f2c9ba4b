"""How many decisions a trace holds of a corpus's modules, per problem."""

import collections
import dataclasses
import pathlib
from collections.abc import Iterable

from mlgo.run import manifest
from mlgo.run.exit_codes import RunError
from mlgo.score.function_scores import NON_FUNCTION_BYTES
from mlgo.trace.outcomes import Outcome, read_record


@dataclasses.dataclass(frozen=True)
class DecisionCounts:
    """Of one problem.

    Attributes:
      decisions: in all traced modules.
      functions: of the objects, that have decisions.
      elsewhere: those of the decisions that are in no function of an object: it was inlined everywhere, or the compiler
        does not name it.
      modules: how many modules had which outcome ("traced", "no decisions", "failed", "not in the trace").
    """

    decisions: int
    functions: int
    elsewhere: int
    modules: dict[str, int]


def stage_folders(folder: pathlib.Path) -> list[pathlib.Path]:
    """The traces at `folder`: a trace's own folder, or the folder of a run, which has several.

    Raises: RunError: there is none.
    """
    found = (
        [folder] if (folder / "modules").is_dir() else sorted(path.parent for path in folder.glob("trace/*/modules"))
    )
    if not found:
        raise RunError(
            f"--trace={folder}", "holds no trace", "give the --output_dir of a training run, or a trace below it"
        )
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
