"""The words of Bazel's command line which the launcher adds; pure functions."""

import os
from typing import List, Mapping, Optional, Sequence

BELOW_TMP = "toolchains/bazel/below_tmp.bazelrc"
# Any of these marks the top of a workspace.
BOUNDARIES = ("MODULE.bazel", "REPO.bazel", "WORKSPACE.bazel", "WORKSPACE")


def bazelrc(install_base: str, java_home: str) -> str:
    """The rc file of an installed Bazel: where its parts lie."""
    startup = (f"--install_base={install_base}", "--trust_install_base", f"--server_javabase={java_home}")
    # Debian's Bazel writes a lock file without content.
    return "".join(f"startup {quote(option)}\n" for option in startup) + rc_text(["--lockfile_mode=off"])


def rc_text(options: Sequence[str]) -> str:
    """The text of an rc file with these options."""
    return "".join(f"common {quote(option)}\n" for option in options)


def quote(option: str) -> str:
    """One word of an rc file; Bazel splits lines at white space like a shell."""
    return (
        '"' + option.replace("\\", "\\\\").replace('"', '\\"') + '"'
        if any(c in option for c in " \t\"'\\#")
        else option
    )


def output_roots(arguments: Sequence[str], environ: Mapping[str, str], home: str) -> List[str]:
    """Directories below which Bazel may put its output base, for these startup options."""
    roots = []
    for index, argument in enumerate(arguments):
        for option in ("--output_base", "--output_user_root"):
            if argument.startswith(option + "="):
                roots.append(argument.split("=", 1)[1])
            elif argument == option and index + 1 < len(arguments):
                roots.append(arguments[index + 1])
        if argument == "--":
            break
    if not roots:
        roots.append(environ.get("TEST_TMPDIR") or environ.get("XDG_CACHE_HOME") or home)
    return roots


def is_below_tmp(paths: Sequence[str], tmp: str = "/tmp") -> bool:
    """Whether any path, links followed, is or lies below /tmp: the sandbox's own /tmp would hide it."""
    return any((os.path.realpath(path) + "/").startswith(tmp + "/") for path in paths)


def workspace_above(directory: str) -> Optional[str]:
    """The Bazel workspace that `directory` lies in, found as Bazel finds it; None outside of any."""
    directory = os.path.realpath(directory)
    while not any(os.path.isfile(os.path.join(directory, name)) for name in BOUNDARIES):
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent
    return directory


def command(bazel: str, rc_files: Sequence[str], arguments: Sequence[str], own: bool) -> List[str]:
    """The full command.

    Args:
        bazel: the program.
        rc_files: read after the workspace's and the user's, in order.
        arguments: the user's words.
        own: whether it is the installed Bazel; Debian's system rc file then does not concern it.
    """
    return [bazel] + (["--nosystem_rc"] if own else []) + [f"--bazelrc={path}" for path in rc_files] + list(arguments)
