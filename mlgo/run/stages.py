"""Runs a stage once: skips it when its manifest is current, resumes it when it was interrupted, starts it otherwise."""

import json
import pathlib
import shutil
from collections.abc import Callable, Mapping
from typing import Any

from mlgo.run import files, manifest
from mlgo.run.regular_file import read_regular

#: Inputs and configuration of a started stage, in its folder.
STARTED_NAME = "started.json"


def run_once(
    folder: pathlib.Path,
    stage: str,
    inputs: Mapping[str, str],
    configuration: Mapping[str, Any],
    work: Callable[[pathlib.Path], Mapping[str, Any]],
    tell: Callable[[str], None],
    continues: Callable[[Any, Mapping[str, Any]], bool] | None = None,
) -> manifest.Manifest:
    """Does what is left of the work of `stage` in `folder` and returns its manifest.

    Args:
      folder: the stage's own folder; everything in it belongs to the stage.
      inputs, configuration: as in `manifest.Manifest`; when they differ from those in the folder, the folder is
        emptied, and `tell` says why.
      work: writes the outputs into the folder and returns the manifest's summary. Finished files of an interrupted run
        with the same inputs and configuration are still there.
      tell: shows one line to the user.
      continues: whether a stage that was started with other inputs and configuration, {"stage", "inputs",
        "configuration"}, can be continued with the present ones, the same fields; None: never.
    """
    current = manifest.read_if_current(folder, stage, inputs, configuration)
    if current is not None:
        tell(f"{stage}: done before, in {folder}")
        return current
    asked = {"stage": stage, "inputs": dict(inputs), "configuration": dict(configuration)}
    started, started_path = files.encode_json(asked), folder / STARTED_NAME
    if _holds(started_path, started):
        files.remove_partial(folder)
        (folder / manifest.FILE_NAME).unlink(missing_ok=True)
    elif continues is not None and continues(started_in(folder), asked):
        files.remove_partial(folder)
        # First: a manifest must never lie beside a configuration that it is not of.
        (folder / manifest.FILE_NAME).unlink(missing_ok=True)
        files.write_atomically(started_path, started)
    else:
        if folder.exists():
            tell(f"{stage}: runs again, for {_changed(started_in(folder), asked)}")
        shutil.rmtree(folder, ignore_errors=True)
        files.write_atomically(started_path, started)
    summary = work(folder)
    outputs = manifest.digests_of(folder, manifest.files_below(folder))
    done = manifest.Manifest(stage, dict(inputs), dict(configuration), outputs, dict(summary))
    manifest.write(folder, done)
    return done


def _changed(earlier: Any, asked: Mapping[str, Any]) -> str:
    """What differs between the two records of a started stage, for the user."""
    if not isinstance(earlier, Mapping):
        return "its folder does not say what its results rest on"
    names = []
    for part in ("inputs", "configuration"):
        before = earlier.get(part)
        before = before if isinstance(before, Mapping) else {}
        now = json.loads(files.encode_json(asked[part]))
        names += sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
    return f"{', '.join(names) or 'its name'} changed"


def started_in(folder: pathlib.Path) -> Any:
    """What STARTED_NAME in the folder of a stage holds; None: nothing that can be read."""
    try:
        return json.loads(read_regular(folder / STARTED_NAME, files.MAX_JSON_BYTES))
    except (OSError, ValueError, RecursionError):
        return None


def _holds(path: pathlib.Path, content: bytes) -> bool:
    """Whether there is a file with exactly this content at `path`."""
    try:
        return read_regular(path, len(content)) == content
    except OSError:
        return False
