"""Builds what the user names by a label, when a command needs it, with the Bazel that started the command.

As `data` of a command, a corpus, which takes minutes, would be built whenever the command is started. `bazel run` holds
no lock while the command runs. This build has the options of the first one that decide what is built: with others,
Bazel would build something else and forget its analysis.
"""

import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

from mlgo.run.exit_codes import RunError
from mlgo.run.progress import tell

#: Runfile with the options of the build of the running command (//:build_options).
OPTIONS = "build_options.json"
#: Written by ./bazelw (toolchains/bazel/launcher.py): startup options and options of `bazel run`, two lists in JSON.
GIVEN = "MLGO_BAZEL_OPTIONS"
_LABEL = re.compile(r"(?:@@?[\w.~+-]+)?//(?:[^/:@]+(?:/[^/:]+)*)?(?P<name>:[^:]+)?")
# Variables that `bazel run` and the starter of a py_binary set; the user's Bazel has not seen them.
_OF_THE_COMMAND = re.compile(
    r"BUILD_(?:WORKSPACE|WORKING)_DIRECTORY|BUILD_EXECROOT|BUILD_ID|\w*RUNFILES\w*|PYTHONPATH|" + GIVEN
)
# Bazel's exit code after Ctrl-C or SIGTERM.
_INTERRUPTED = 8
# On a terminal, Bazel shows what it compiles; apart from that, only what the user may have to act on.
_QUIET = ("--ui_event_filters=-info", "--show_result=0")
# Files of other repositories have no configuration: after a build of nothing else Bazel removes bazel-bin, by which the
# user may have named a compiler.
_KEEP_LINKS = "--experimental_convenience_symlinks=ignore"


def is_label(value: str) -> bool:
    """Whether `value` is a label: @repository//package:name, //package:name, or //package that is no path."""
    label = _LABEL.fullmatch(value)
    return label is not None and (label["name"] is not None or not os.path.lexists(value))


@dataclasses.dataclass(frozen=True)
class Workspace:
    """The user's workspace, and how Bazel built the running command in it."""

    root: pathlib.Path
    directory: pathlib.Path  #: where the user started the command, which relative options are relative to.
    execution_root: pathlib.Path  #: what paths of built files are relative to.
    startup: tuple[str, ...]
    options: tuple[str, ...]
    environment: Mapping[str, str]

    @classmethod
    def of_command(
        cls, root: pathlib.Path, options: pathlib.Path, environment: Mapping[str, str]
    ) -> "Workspace | None":
        """The workspace `root` of a command whose runfile OPTIONS is `options`; None: Bazel did not build it there."""
        real = options.resolve()
        execution_root = next((folder for folder in real.parents if folder.parent.name == "execroot"), None)
        if execution_root is None or not (root / "bazelw").is_file():
            return None
        given = json.loads(environment.get(GIVEN, "null"))
        startup, more = given or (_startup_options(execution_root.parent.parent, root, environment), [])
        directory = pathlib.Path(environment.get("BUILD_WORKING_DIRECTORY", root))
        kept = {name: value for name, value in environment.items() if not _OF_THE_COMMAND.fullmatch(name)}
        configured = json.loads(real.read_text(encoding="utf-8"))
        return cls(root, directory, execution_root, tuple(startup), (*more, *configured), kept)

    def build(self, label: str) -> pathlib.Path:
        """What `label` stands for, built, with progress on stderr. Raises: RunError: it is not one file or folder."""
        tell(f"building {label}")
        again = f"`./bazelw build {label}` repeats"
        code, _ = self._bazel("build", *self.options, *_QUIET, _KEEP_LINKS, "--", label)
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
        if code:
            wrong, remedy = (
                f"cannot be built: Bazel ended with exit code {code}",
                f"See its messages above, which {again}",
            )
            raise RunError(f"label {label}", wrong, remedy)
        query = ("--output=files", "--noshow_progress", *_QUIET[:1])
        code, printed = self._bazel("cquery", *self.options, *query, "--", label)
        found = [self._path(line) for line in printed.splitlines()]
        if code or len(found) != 1 or not found[0].exists():
            wrong = f"is not one file or folder, but {len(found)}"
            raise RunError(f"label {label}", wrong, "Give the label of a corpus, or the path of what you mean")
        return found[0]

    def _path(self, printed: str) -> pathlib.Path:
        """The file that `bazel cquery --output=files` calls `printed`."""
        if printed.startswith("bazel-out/"):
            return self.execution_root / printed
        if printed.startswith("external/"):
            return self.execution_root.parent.parent / printed
        return self.root / printed

    def _bazel(self, command: str, *arguments: str) -> tuple[int, str]:
        """Runs a command of Bazel; returns its exit code and what it prints on stdout."""
        words = [str(self.root / "bazelw"), *self.startup, command, *arguments]
        with subprocess.Popen(
            words,
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            errors="surrogateescape",
        ) as process:
            try:
                printed, _ = process.communicate()
            except KeyboardInterrupt:
                _end(process)
                raise
        return process.returncode, printed


def _end(process: subprocess.Popen[str]) -> None:
    """Lets Bazel end what it does, however often the user presses Ctrl-C."""
    process.send_signal(signal.SIGTERM)
    while process.poll() is None:
        with contextlib.suppress(KeyboardInterrupt):
            process.wait()


def _startup_options(output_base: pathlib.Path, root: pathlib.Path, environment: Mapping[str, str]) -> Sequence[str]:
    """Startup options with which Bazel finds the server of this output base and need not start another."""
    cache = pathlib.Path(environment.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    if (cache / "bazel" / f"_bazel_{environment.get('USER')}").resolve() == output_base.parent:
        return []
    # Bazel names an output base that the user does not choose after the MD5 digest of the workspace's path.
    if output_base.name == hashlib.md5(os.fsencode(root), usedforsecurity=False).hexdigest():
        return [f"--output_user_root={output_base.parent}"]
    return [f"--output_base={output_base}"]


@functools.cache
def built(label: str, root: pathlib.Path | None, options: pathlib.Path | None) -> pathlib.Path:
    """The file or folder that `label` stands for; it is built if it is not yet. Raises: RunError: it cannot be built.

    Args: root: the user's workspace, None without `bazel run`; options: the command's runfile OPTIONS, if it has it.
    """
    subject = f"label {label}"
    if root is None:
        wrong = "can be built only by a command that was started with ./bazelw run"
        raise RunError(subject, wrong, "Start it so, or give a path")
    workspace = Workspace.of_command(root, options, os.environ) if options else None
    if workspace is None:
        wrong = f"cannot be built: this command does not belong to the workspace {root}"
        remedy = f"Build it there, and give the path that `bazel cquery --output=files {label}` prints"
        raise RunError(subject, wrong, remedy)
    sys.stdout.flush()
    return workspace.build(label)
