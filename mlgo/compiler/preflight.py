"""Checks a compiler before a run depends on it."""

import os

from mlgo.problems.problem import Problem


def preflight(clang: str | os.PathLike[str], problem: Problem) -> None:
    """Compiles a tiny module with the problem's advisor in development mode and reads the log.

    Raises: RunError: clang does not run, has no ML support, or logs other tensors than the problem's.
    """
    raise NotImplementedError
