"""Options of `bazel run` for a program that starts Bazel again; a pure function.

The program cannot ask Bazel for them (mlgo/run/labels.py, which reads them). Options that decide what is built it knows
from its own build; these say which server to ask, and where results and sources may come from.
"""

from typing import List, Optional, Sequence, Tuple

#: Environment variable with the result of `of_run` in JSON.
VARIABLE = "MLGO_BAZEL_OPTIONS"

_CARRIED = (
    "--config",
    "--disk_cache",
    "--distdir",
    "--jobs",
    "--override_module",
    "--override_repository",
    "--registry",
    "--remote_cache",
    "--remote_executor",
    "--remote_header",
    "--repo_env",
    "--repository_cache",
    "--symlink_prefix",
)


def of_run(arguments: Sequence[str]) -> Optional[Tuple[List[str], List[str]]]:
    """Startup options, and those options that another build of the same sources should have as well.

    Args:
        arguments: the words after `bazel`.
    Returns:
        None if the command is not `run`.
    """
    words = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    if "run" not in words:
        return None
    command = words.index("run")
    options, rest = [], words[command + 1 :]
    for position, word in enumerate(rest):
        name, separator, _ = word.partition("=")
        if name in _CARRIED:
            options += [word] if separator else rest[position : position + 2]
    return words[:command], options
