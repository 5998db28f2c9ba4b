"""Opens a finished trace by its folder alone, as the commands that come after it are given it."""

import os
import pathlib

from mlgo.problems.problem import Problem, load_problem
from mlgo.run import manifest
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.trace.outcomes import read_record
from mlgo.trace.trace import Trace

_SUFFIX = ".json"


def open_trace(folder: pathlib.Path, flag: str) -> tuple[Trace, Problem, manifest.Manifest]:
    """The trace in `folder`, the problem it is of, and its manifest.

    Args: flag: what messages call it, such as "--data_path".
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
