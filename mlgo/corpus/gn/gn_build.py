"""Configures a gn project for root targets of ours, runs ninja, and reads what it says about commands and inputs."""

import dataclasses
import hashlib
import os
import pathlib
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlgo.corpus.gn import source_root
from mlgo.corpus.gn.source_root import TOOLCHAIN_FOLDER, Layout
from mlgo.run import locate
from mlgo.run.exit_codes import RunError

#: Lines of a failed program's output in messages; the log beside the build has all.
_SHOWN_LINES = 40
_NINJA_LOG = "ninja.log"
_NINJA_FILE = "build.ninja"

_COMPILERS = ("clang", "clang++")


@dataclasses.dataclass(frozen=True)
class Configured:
    """A project that gn has configured."""

    layout: Layout
    ninja: pathlib.Path
    #: The whole environment of the build.
    environment: Mapping[str, str]


def environment_of(layout: Layout, path: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
    """The environment of the build. PATH: our folder of programs, `path` below //mlgo_toolchain, the system's shell.
    Raises: RunError: `given` has a variable that is set here."""
    toolchain = layout.source / TOOLCHAIN_FOLDER
    folders = [str(layout.programs), *(str(toolchain / folder) for folder in path), os.defpath]
    ours = {"PATH": ":".join(folders), "LC_ALL": "C.UTF-8", "PYTHONPYCACHEPREFIX": str(layout.bytecode)}
    if decided := ours.keys() & given.keys():
        wrong = "is set by the build itself"
        raise RunError(f"environment {', '.join(sorted(decided))}", wrong, "remove it; `path` adds folders")
    return {**ours, **given}


def compile_target(configured: Configured, target: str, jobs: int, ninja_file: str = _NINJA_FILE) -> None:
    """Builds `target`, which `ninja_file` in the build folder knows, by `jobs` commands at a time; objects of earlier
    runs are reused. Raises: RunError: a command fails; with its output."""
    log, build = configured.layout.work / _NINJA_LOG, configured.layout.build
    with open(log, "wb") as file:
        command = [configured.ninja, "-C", build, "-f", ninja_file, "-j", jobs, target]
        done = _run(command, build, configured.environment, file.fileno())
    if done.returncode:
        said = log.read_bytes()
        failures = _shown(said[max(said.find(b"FAILED: "), 0) :])
        remedy = "Correct gn arguments or tree and build again: compiled objects are kept"
        raise RunError(f"ninja {target} ({log})", f"failed:\n{failures}\n", remedy)


def commands(configured: Configured, target: str) -> list[str]:
    """The shell commands of a full build of `target` by ninja, in an order in which they can run.
    Raises: RunError: ninja does not run, or does not know the target; so do the functions below."""
    return _answer(configured, "commands", target)


def inputs(configured: Configured, target: str) -> list[str]:
    """All files that a full build of `target` reads or makes, by path from the build folder."""
    # Ninja quotes each for a shell.
    return [" ".join(shlex.split(line)) for line in _answer(configured, "inputs", target)]


def query(configured: Configured, files: Sequence[str]) -> list[str]:
    """What ninja says about files that the build makes: for each, what it is made from, and what is made from it.
    One question for all: ninja reads the whole build for every answer, which takes half a minute for a browser's."""
    return _answer(configured, "query", *files)


def _answer(configured: Configured, tool: str, *targets: str) -> list[str]:
    build = configured.layout.build
    done = _run([configured.ninja, "-C", build, "-t", tool, *targets], build, configured.environment)
    if done.returncode:
        wrong = f"failed:\n{_shown(done.stdout)}\n"
        raise RunError(f"ninja -t {tool} {targets[0]}", wrong, "Name a target of the project")
    return done.stdout.decode("utf-8", "surrogateescape").splitlines()


def _shown(output: bytes) -> str:
    return "\n".join(output.decode("utf-8", "replace").strip().splitlines()[:_SHOWN_LINES])


def _run(
    command: Sequence[object], where: pathlib.Path, environment: Mapping[str, str], output: int = subprocess.PIPE
) -> subprocess.CompletedProcess:
    """Runs a program of the toolchain. Raises: RunError: it does not run."""
    words, environment = [str(word) for word in command], dict(environment)
    none, errors = subprocess.DEVNULL, subprocess.STDOUT
    try:
        return subprocess.run(words, cwd=where, env=environment, stdin=none, stdout=output, stderr=errors, check=False)
    except OSError as error:
        remedy = "fetch it again: it comes from third_party/debian"
        raise RunError(f"program {command[0]}", f"does not run ({error.strerror})", remedy) from error


def compile_entries(lines: Sequence[str], directory: str) -> list[dict[str, Any]]:
    """The compiles among ninja's shell commands as entries of a compilation database, sorted by source."""
    found: dict[str, dict[str, Any]] = {}
    for line in lines:
        words = shlex.split(line)
        if words and os.path.basename(words[0]) in _COMPILERS and "-c" in words[:-1]:
            source = words[words.index("-c") + 1]
            found[source] = {"directory": directory, "file": source, "arguments": words}
    return [found[source] for source in sorted(found)]


def link_words(lines: Sequence[str]) -> list[str]:
    """The words of the last line, which links. A script that starts the driver has the driver's words behind `--`."""
    words = shlex.split(lines[-1]) if lines else []
    return words[words.index("--") + 1 :] if "--" in words else words


def libraries(lines: Sequence[str]) -> list[str]:
    """The library options in the last line, which links."""
    return [word for word in link_words(lines) if word.startswith(("-l", "-L")) or word == "-nostdlib++"]


def inputs_in(lines: Sequence[str], only_explicit: bool = False) -> dict[str, list[str]]:
    """File -> its inputs in the order of `ninja -t query`, which shows explicit ones without a bar, implicit ones
    behind "| ", and behind "|| " what must only be there before it is made."""
    found: dict[str, list[str]] = {}
    inputs: list[str] = []
    kind = ""
    for line in lines:
        if not line.startswith(" "):
            inputs = found.setdefault(line.removesuffix(":"), [])
        elif not line.startswith("    "):
            kind = line.strip()
        elif kind.startswith("input:") and not (only_explicit and line[4:].startswith("|")):
            inputs.append(line[4:].removeprefix("|").removeprefix("|").removeprefix(" "))
    return found


@dataclasses.dataclass(frozen=True)
class Project:
    """A project that gn can configure, and the programs that do it."""

    #: Its root folder; is not written to.
    tree: pathlib.Path
    gn: pathlib.Path
    ninja: pathlib.Path
    #: The interpreter of the project's scripts.
    python: pathlib.Path
    #: Of gn, values as gn writes them.
    arguments: Mapping[str, str]
    #: Of gn and ninja, besides PATH and the locale.
    environment: Mapping[str, str]
    #: Names below //mlgo_toolchain and the files or folders they refer to.
    toolchain: Mapping[str, pathlib.Path]
    #: Folders below //mlgo_toolchain with programs that are started by name.
    path: Sequence[str]
    #: Small files that change when tree or toolchain change.
    fingerprints: Sequence[pathlib.Path]
    #: Paths from the project's root and the files or folders that the build finds there besides the tree's.
    placed: Mapping[str, pathlib.Path]
    #: Folders of the tree of which the build sees copies instead of links: scripts there that compare where they lie
    #: with paths in the build would be led into the tree.
    copied: Sequence[str]


def configure(
    project: Project,
    work: pathlib.Path,
    targets: Sequence[str],
    library_flags: Sequence[str] | None = None,
    added: Mapping[str, str] | None = None,
) -> Configured:
    """Prepares the folder `work` and runs `gn gen` there for a root target of all `targets`.

    Args:
      library_flags: options of the link of a shared library of what they hold; None: the root target is a group.
      added: further files of the project, by path from its root.

    Raises: RunError: the tree, an argument or a target is not usable; gn's own words when it is gn that says so.
    """
    contents = {
        f"{source_root.ROOT_FOLDER}/BUILD.gn": source_root.root_build_file(targets, library_flags),
        f"{source_root.OUT_FOLDER}/corpus/args.gn": source_root.args_text(project.arguments),
        **(added or {}),
    }
    fingerprints = {
        "contents": contents,
        "environment": dict(project.environment),
        "inputs": [hashlib.sha256(path.read_bytes()).hexdigest() for path in project.fingerprints],
        "toolchain": sorted(project.toolchain),
        **({"placed": sorted(project.placed)} if project.placed else {}),
        **({"copied": sorted(project.copied)} if project.copied else {}),
    }
    tree, placed, copied = project.tree.absolute(), project.placed, project.copied
    layout = source_root.prepare(work.absolute(), tree, project.toolchain, contents, fingerprints, placed, copied)
    source_root.add_programs(layout, {"python3": project.python.absolute(), "ninja": project.ninja.absolute()})
    environment = environment_of(layout, project.path, project.environment)
    target = source_root.GROUP if library_flags is None else source_root.LIBRARY
    command = [project.gn, "gen", layout.build, f"--root={layout.source}", f"--root-target=//{target}"]
    done = _run(command, layout.build, environment)
    if done.returncode:
        remedy = "Add a missing file to the tree's paths, or correct targets or gn arguments"
        raise RunError(f"gn gen of //{target}", f"failed:\n{_shown(done.stdout)}\n", remedy)
    return Configured(layout, project.ninja, environment)


def project_of(content: Mapping[str, Any], locate: Callable[[str], pathlib.Path]) -> Project:
    """The project that the fields of a JSON file describe, which mlgo/corpus/private/gn.bzl writes.

    Args: locate: finds a file by the path that is given there: a runfile of the target, or an input of the action.
    Raises: AttributeError, KeyError, TypeError: a field is missing or of another type.
    """

    def located(paths: Mapping[str, str]) -> dict[str, pathlib.Path]:
        return {name: locate(path) for name, path in paths.items()}

    return Project(
        tree=locate(content["tree"]),
        gn=locate(content["gn"]),
        ninja=locate(content["ninja"]),
        python=locate(content["python"]),
        arguments=content["gn_args"],
        environment=content["env"],
        toolchain=located(content["toolchain"]),
        path=content["path"],
        fingerprints=list(map(locate, content["fingerprints"])),
        placed=located(content.get("placed", {})),
        copied=content.get("copied", []),
    )


def runfiles_of(path: pathlib.Path) -> Callable[[str], pathlib.Path]:
    """What finds the runfiles of the target that made the file at `path`: beside it, or among those of the command."""
    folder = path.with_name(f"{path.name}.runfiles")
    return folder.joinpath if folder.is_dir() else locate.rlocation
