"""What builds in a project made, kept in the cache for later runs."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from mlgo.project import artefact, recording, stated_build
from mlgo.project.command_line import Archive, Compile, Header, Link, Made, understand
from mlgo.project.compiler import Compiler
from mlgo.project.records import read_records
from mlgo.run.exit_codes import RunError

_RECORDS = "records."
_KINDS: Mapping[str, Callable[..., Made]] = {kind.__name__: kind for kind in (Archive, Compile, Header, Link)}


class Recorded(NamedTuple):
    """Attributes:
    commands: in the order of their ends.
    seconds: CPU time of the build; 0: it was not run, and other compilers may have made its objects.
    changed: what was linked -> when, in nanoseconds since 1970.
    """

    commands: list[Made]
    seconds: float
    changed: Mapping[str, int | None]


def read(cache: pathlib.Path, verb: str) -> Recorded:
    """What was recorded. Raises: RunError: nothing."""
    kept = artefact.read_recording(cache)
    if not kept:
        raise RunError(f"mlgo {verb}", "has no command, and no build was recorded here", f"Write: mlgo {verb} -- make")
    try:
        commands = [_command_of(entry) for entry in kept["commands"]]
        return Recorded(commands, kept["build_seconds"], kept["changed"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        remedy = f"Remove it, clean, and write: mlgo {verb} -- make"
        raise RunError(str(cache / artefact.RECORDING), "was not written by this mlgo", remedy) from error


def record(compiler: Compiler, cache: pathlib.Path, command: Sequence[str], say: Callable[[str], None]) -> int:
    """Runs the build and adds what it made to what is known of builds before; its exit code."""
    recording.make_links(cache / "path", compiler, os.environ.get("PATH", os.defpath))
    path = pathlib.Path(tempfile.mkdtemp(dir=cache, prefix=_RECORDS))
    environment = recording.environment_of(compiler, cache / "path", os.environ, records=path, command=command)
    code, seconds = recording.run_build(command, environment)
    made, broken = _keep(cache, path, lambda kept, found: max(seconds, kept))
    if not made and artefact.read_recording(cache)["commands"]:
        say("this build made nothing by a compiler that mlgo knows; what is known is from builds before")
    if broken:
        say(f"{broken} commands of the build are not known: they were ended, or the disk is full")
    return code


def adopt(cache: pathlib.Path) -> None:
    """Keeps what builds made whose `mlgo` was killed."""
    for path in sorted(cache.glob(f"{_RECORDS}*")):
        _keep(cache, path, lambda kept, found: kept + found)


def _keep(cache: pathlib.Path, records: pathlib.Path, total: Callable[[float, float], float]) -> tuple[int, int]:
    """Adds what was recorded to what is known of builds before, and removes the folder.

    Args: total: from the CPU seconds of the build that are known and those of the records to the new ones.
    Returns: the number of commands that made something, and that of records that are cut off.
    """
    found, broken = read_records(records)
    made = [each for one in found for each in understand(one)]
    kept = artefact.read_recording(cache)
    outputs = {each.output for each in made}
    before = [entry for entry in kept.get("commands", ()) if entry["output"] not in outputs]
    seconds = total(kept.get("build_seconds", 0.0), sum(one.seconds for one in found))
    _write(cache, before, made, seconds, kept.get("changed", {}))
    shutil.rmtree(records, ignore_errors=True)
    return len(made), broken


def state(cache: pathlib.Path, database: pathlib.Path, links: Sequence[str], say: Callable[[str], None]) -> None:
    """Keeps what a compile_commands.json says, in the place of what is known of builds before."""
    made, others = stated_build.commands_of(database, links)
    if others:
        name, why = next(iter(sorted(others.items())))
        say(f"{len(others)} commands are passed over; the first: {os.path.basename(name)} {why}")
    _write(cache, [], made, 0.0, {})


def _write(
    cache: pathlib.Path,
    before: Sequence[Mapping[str, Any]],
    made: Sequence[Made],
    seconds: float,
    changed: Mapping[str, int | None],
) -> None:
    commands = [*before, *({"kind": type(each).__name__, **dataclasses.asdict(each)} for each in made)]
    times = {each.output: artefact.time_of(each.output) for each in made if isinstance(each, Link)}
    artefact.write_recording(cache, commands, seconds, {**changed, **times})


def _command_of(entry: Mapping[str, Any]) -> Made:
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
    return _KINDS[fields.pop("kind")](**fields)
