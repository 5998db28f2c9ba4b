"""A run that is called again with more iterations goes on, and ends with the bytes of a run that began with so many.

A run whose learning has not ended takes over the new number. One that has ended keeps all its results until the new
ones are complete: it goes on in EXTENDING below its folder. Then one rename makes that folder EXTENDED, and its entries
replace those of the run; those that a killed process leaves there, the next call of the command puts in their places.
"""

import os
import pathlib
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any

from mlgo.run import files, manifest
from mlgo.run.exit_codes import RunError
from mlgo.run.progress import tell
from mlgo.run.run_folder import CONFIGURATION_NAME
from mlgo.training.figures import METRICS_NAME, SECONDS_NAME

#: Folder in a run's folder: the results of more iterations, as long as some are missing.
EXTENDING = "extending"

#: The same folder when all are complete.
EXTENDED = "extended"

LEARNING = "learning"
LEARNING_CURVE_NAME = "learning_curve.svg"

#: What depends on the number of iterations, by path in the run's folder.
_RESULTS = (
    CONFIGURATION_NAME,
    LEARNING,
    "export",
    "held_out/policy",
    "held_out/functions.csv",
    "held_out/result.json",
    METRICS_NAME,
    SECONDS_NAME,
    LEARNING_CURVE_NAME,
    "policy",
)


def prepare(folder: pathlib.Path, identity: Mapping[str, Any]) -> pathlib.Path:
    """Prepares the run in `folder`, which this process has locked, for more iterations, if `identity` has more.

    Returns: the folder for results: `folder`, or EXTENDING in it.
    Raises: RunError: `identity` has fewer iterations and nothing else differs.
    """
    _replace_results(folder)
    path = folder / CONFIGURATION_NAME
    if not path.exists():
        return folder
    earlier = files.read_json(path, "configuration of the earlier run", f"Delete {folder}")
    is_longer, is_shorter = extends(earlier, identity), extends(identity, earlier)
    if is_longer == is_shorter:
        return folder  # The same run, or another one: whoever claims the folder lists the differences.
    before, now = _split(earlier)[0], _split(identity)[0]
    if is_shorter:
        wrong = f"is fewer than the {before} of the run in {folder}: a run can grow, and cannot shrink"
        raise RunError(f"--iterations={now}", wrong, f"Give --iterations={before} or more, or another --output_dir")
    grows = f"the run in {folder} grows from {before} to {now} iterations"
    if not (folder / LEARNING / manifest.FILE_NAME).exists():
        tell(grows)
        files.write_json_atomically(path, identity)
        return folder
    tell(f"{grows}; its results stay until the new ones are there")
    return _extending(folder, identity)


def extends(earlier: Any, now: Mapping[str, Any]) -> bool:
    """Whether `now` equals `earlier` but for the number of iterations in its "configuration", which is not lower."""
    try:
        (before, rest), (count, other) = _split(earlier), _split(now)
    except (KeyError, TypeError, ValueError):
        return False
    return rest == other and count >= before


def finish(folder: pathlib.Path) -> None:
    """Puts the complete results in EXTENDING, if there are any, in the place of those in `folder`."""
    if (folder / EXTENDING).exists():
        os.replace(folder / EXTENDING, folder / EXTENDED)
        _replace_results(folder)


def check_replaced(folder: pathlib.Path) -> None:
    """Raises: RunError: a process was killed while it replaced the results in `folder`."""
    if (folder / EXTENDED).exists():
        wrong = "was interrupted while its results were replaced by those of more iterations"
        remedy = "Run the same training command again: it replaces the others at once"
        raise RunError(f"the run in {folder}", wrong, remedy)


def _extending(folder: pathlib.Path, identity: Mapping[str, Any]) -> pathlib.Path:
    """The folder EXTENDING, which begins with what the run in `folder` has learned."""
    extending = folder / EXTENDING
    path = extending / CONFIGURATION_NAME
    if path.exists() and extends(files.read_json(path, "configuration", f"Delete {extending}"), identity):
        files.write_json_atomically(path, identity)
        return extending
    shutil.rmtree(extending, ignore_errors=True)
    with files.directory_written_atomically(extending) as partial:
        unneeded = shutil.ignore_patterns(manifest.FILE_NAME, f"*{files.PARTIAL_SUFFIX}")
        shutil.copytree(folder / LEARNING, partial / LEARNING, ignore=unneeded)
        if (folder / SECONDS_NAME).exists():
            shutil.copyfile(folder / SECONDS_NAME, partial / SECONDS_NAME)
        (partial / CONFIGURATION_NAME).write_bytes(files.encode_json(identity))
    return extending


def _replace_results(folder: pathlib.Path) -> None:
    """Moves the entries of EXTENDED, if it is there, to their places in `folder`."""
    extended = folder / EXTENDED
    if not extended.exists():
        return
    for name in _RESULTS:
        new, old = extended / name, folder / name
        if not new.exists():
            continue  # A process that was killed afterwards has moved it.
        old.parent.mkdir(exist_ok=True)
        if old.is_dir():
            retired = tempfile.mkdtemp(dir=folder, prefix=f".{old.name}.", suffix=files.PARTIAL_SUFFIX)
            os.replace(old, pathlib.Path(retired, "old"))
        os.replace(new, old)
    shutil.rmtree(extended)
    files.remove_partial(folder)


def _split(record: Any) -> tuple[int, bytes]:
    """(number of iterations, everything else) of the record of a run. Raises: KeyError, TypeError, ValueError."""
    run = {name: value for name, value in record["configuration"]["run"].items() if name != "iterations"}
    rest = {**record, "configuration": {**record["configuration"], "run": run}}
    return int(record["configuration"]["run"]["iterations"]), files.encode_json(rest)
