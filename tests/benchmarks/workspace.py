"""Calls Bazel in this workspace, for benchmarks of the build itself. A Bazel that started a program by `run` is free
again.
"""

import pathlib
import subprocess

from mlgo.run import locate


def root() -> pathlib.Path:
    """This workspace.

    Raises: RuntimeError: the program was not started by `bazel run`.
    """
    found = locate.workspace()
    if found is None:
        raise RuntimeError("the workspace is not known; run ./bazelw run //tests/benchmarks")
    return found


def bazel(workspace: pathlib.Path, *arguments: str) -> str:
    """What `./bazelw ARGUMENTS` prints on standard output.

    Raises: RuntimeError: it failed; carries the end of what it said.
    """
    done = subprocess.run(
        [workspace / "bazelw", *arguments], cwd=workspace, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"bazelw {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout
