"""Runs gn and ninja in a prepared folder."""

import dataclasses
import os
import pathlib
import shlex
import subprocess
from collections.abc import Mapping, Sequence

from mlgo.corpus.gn import gn_files
from mlgo.corpus.gn.source_root import Layout
from mlgo.run.exit_codes import RunError

#: Lines of a failed program's output in messages; the log beside the build has all.
_SHOWN_LINES = 40
NINJA_LOG = "ninja.log"
_NINJA_FILE = "build.ninja"


@dataclasses.dataclass(frozen=True)
class Tools:
    """Programs, by absolute path."""

    gn: pathlib.Path
    ninja: pathlib.Path


def environment_of(layout: Layout, path: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
    """The environment of the build. PATH: our folder of programs, `path` below //mlgo_toolchain, the system's shell.

    Raises: RunError: `given` has a variable that is set here.
    """
    toolchain = layout.source / gn_files.TOOLCHAIN_FOLDER
    folders = [str(layout.programs), *(str(toolchain / folder) for folder in path), os.defpath]
    ours = {"PATH": ":".join(folders), "LC_ALL": "C.UTF-8", "PYTHONPYCACHEPREFIX": str(layout.bytecode)}
    if decided := ours.keys() & given.keys():
        raise RunError(
            f"environment {', '.join(sorted(decided))}", "is set by the build itself", "remove it; `path` adds folders"
        )
    return {**ours, **given}


def configure(tools: Tools, layout: Layout, root_target: str, environment: Mapping[str, str]) -> None:
    """`gn gen` of the root target and its dependencies. Raises: RunError: gn does not run or fails; with its output."""
    command = [tools.gn, "gen", layout.build, f"--root={layout.source}", f"--root-target=//{root_target}"]
    done = _run(command, layout.build, environment)
    if done.returncode:
        raise RunError(
            f"gn gen of //{root_target}",
            f"failed:\n{_tail(done.stdout)}\n",
            "Add a missing file to the tree's paths, or correct targets or gn arguments",
        )


def compile_target(
    tools: Tools, layout: Layout, target: str, environment: Mapping[str, str], jobs: int, ninja_file: str = _NINJA_FILE
) -> None:
    """Builds `target`, and reuses the objects of an earlier run.

    Args: jobs: commands at a time. ninja_file: in the build folder, knows the target.
    Raises: RunError: a command fails; with its output.
    """
    log = layout.work / NINJA_LOG
    with open(log, "wb") as file:
        try:
            done = subprocess.run(
                [tools.ninja, "-C", layout.build, "-f", ninja_file, "-j", str(jobs), target],
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                check=False,
            )
        except OSError as error:
            raise cannot_start(tools.ninja, error) from error
    if done.returncode:
        raise RunError(
            f"ninja {target} ({log})",
            f"failed:\n{_tail(_failures(log.read_bytes()))}\n",
            "Correct gn arguments or tree and build again: compiled objects are kept",
        )


def commands(tools: Tools, layout: Layout, target: str, environment: Mapping[str, str]) -> list[str]:
    """The shell commands of a full build of `target` by ninja, in an order in which they can run.

    Raises: RunError: ninja does not run, or does not know the target.
    """
    return _answer(tools, layout, "commands", target, environment)


def last_commands(tools: Tools, layout: Layout, files: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """For each of `files`, the shell command that makes it. Raises: RunError: as of `commands`, or there is none."""
    found = _answer(tools, layout, "commands", "-s", environment, more=files)
    if len(found) != len(files):
        wrong = f"gave {len(found)} commands for {len(files)} files"
        raise RunError(f"ninja -t commands -s {files[0]} ...", wrong, "Name files that commands of their own make")
    return found


def inputs(
    tools: Tools, layout: Layout, target: str, environment: Mapping[str, str], ninja_file: str = _NINJA_FILE
) -> list[str]:
    """All files that a full build of `target` reads or makes, by path from the build folder.

    Args: ninja_file: in the build folder, knows the target.
    Raises: RunError: as of `commands`.
    """
    # Ninja quotes each for a shell.
    return [" ".join(shlex.split(line)) for line in _answer(tools, layout, "inputs", target, environment, ninja_file)]


def query(tools: Tools, layout: Layout, files: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """What ninja says about files that the build makes: for each, what it is made from, and what is made from it.

    One question for all: ninja reads the whole build for every answer, which takes half a minute for a browser's.

    Raises: RunError: as of `commands`.
    """
    return _answer(tools, layout, "query", files[0], environment, more=files[1:])


def _answer(
    tools: Tools,
    layout: Layout,
    tool: str,
    target: str,
    environment: Mapping[str, str],
    ninja_file: str = _NINJA_FILE,
    more: Sequence[str] = (),
) -> list[str]:
    file = () if ninja_file == _NINJA_FILE else ("-f", ninja_file)
    command = [tools.ninja, "-C", layout.build, *file, "-t", tool, target, *more]
    done = _run(command, layout.build, environment)
    if done.returncode:
        raise RunError(f"ninja -t {tool} {target}", f"failed:\n{_tail(done.stdout)}\n", "Name a target of the project")
    return done.stdout.decode("utf-8", "surrogateescape").splitlines()


def targets(tools: Tools, layout: Layout, environment: Mapping[str, str]) -> list[str]:
    """Each file that the build can make, with its rule: lines FILE: RULE. Raises: RunError: ninja does not run."""
    return _answer(tools, layout, "targets", "all", environment)


def _failures(log: bytes) -> bytes:
    """The log from its first failure on."""
    place = log.find(b"FAILED: ")
    return log[max(place, 0) :]


def _tail(output: bytes) -> str:
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return "\n".join(lines[:_SHOWN_LINES])


def _run(command: Sequence[object], where: pathlib.Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess:
    try:
        return subprocess.run(
            [str(word) for word in command],
            cwd=where,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    except OSError as error:
        raise cannot_start(command[0], error) from error


def cannot_start(program: object, error: OSError) -> RunError:
    """The error of a program of the toolchain that the system does not start."""
    return RunError(
        f"program {program}", f"does not run ({error.strerror})", "fetch it again: it comes from third_party/debian"
    )
