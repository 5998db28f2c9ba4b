"""The launcher's option --debian_mirror, and the mirrors that a user.bazelrc names."""

import os
import pathlib
import re
import shlex
from typing import List, Mapping, Sequence, Tuple

from toolchains.bazel.errors import LauncherError

OPTION = "--debian_mirror"
#: As in third_party/debian/mirrors.py, which is not loaded for each command.
OPTION_VARIABLE, VARIABLE = "MLGO_DEBIAN_MIRROR_OPTION", "MLGO_DEBIAN_MIRRORS"
RC_FILE = "user.bazelrc"


def split(arguments: Sequence[str]) -> Tuple[List[str], List[str]]:
    """The mirrors that --debian_mirror names, in order, and the other words.

    Words after `--` are a program's own.

    Raises:
        LauncherError: the option has no value, or one that is neither an address nor a directory.
    """
    words = list(arguments)
    end = words.index("--") if "--" in words else len(words)
    mirrors, others, index = [], [], 0
    while index < end:
        name, separator, value = words[index].partition("=")
        if name == OPTION:
            if not separator and index + 1 < end:
                index += 1
                value = words[index]
            mirrors.append(_mirror(value))
        else:
            others.append(words[index])
        index += 1
    return mirrors, others + words[end:]


def _mirror(value: str) -> str:
    """An address; a directory becomes file:///..., in which blanks and commas are escaped."""
    if re.match(r"(https?|file)://?\S+\Z", value):
        return value
    if value and "://" not in value and os.path.isdir(value):
        return pathlib.Path(value).absolute().as_uri()
    raise LauncherError(
        "%s=%s" % (OPTION, value),
        "is no http:// or https:// address and no directory",
        "Give the address of a Debian mirror, such as one that ends in /debian, or a directory of archives.",
    )


def of_rc(text: str) -> str:
    """The value of --repo_env=MLGO_DEBIAN_MIRRORS in an rc file, as Bazel reads it: the last counts; "" if none."""
    value = ""
    for line in text.replace("\\\n", " ").splitlines():
        try:
            words = shlex.split(line, comments=True)
        except ValueError:  # Bazel will tell of the line.
            continue
        for word, follower in zip(words[1:], words[2:] + [""]):
            setting = follower if word == "--repo_env" else word[len("--repo_env=") :]
            if word.split("=")[0] == "--repo_env" and setting.startswith(VARIABLE + "="):
                value = setting[len(VARIABLE) + 1 :]
    return value


def with_mirrors(environ: Mapping[str, str], mirrors: Sequence[str], rc_text: str) -> Mapping[str, str]:
    """The environment in which Bazel is installed and runs: --debian_mirror first, then the variable, then the rc file.

    Bazel itself prefers its rc file to the variable; both name mirrors that are tried.
    """
    changed = dict(environ)
    if mirrors:
        changed[OPTION_VARIABLE] = ",".join(mirrors)
    named = of_rc(rc_text)
    if named:
        changed[VARIABLE] = ",".join(filter(None, (environ.get(VARIABLE), named)))
    return changed
