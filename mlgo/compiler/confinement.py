"""The walls around a compile, built by //development/confinement: which are wanted, and which this machine lacks."""

import enum
import functools
import os
import subprocess

from mlgo.run import locate

_LIMITED_EXEC = "mlgo/compiler/limited_exec"

# Versions of Landlock's interface (development/confinement/landlock.h).
_PROTECTS_FROM_TRUNCATION, _PROTECTS_FROM_SIGNALS = 3, 6


class Confinement(enum.StrEnum):
    """The walls that are built, of those that the kernel has. Less than all of them is for tests and measurements."""

    ALL = "all"
    NONE = "none"
    LANDLOCK = "landlock"
    FILTER = "filter"


@functools.cache
def limited_exec() -> str:
    """The program that becomes a compiler inside limits and walls."""
    return str(locate.runfile(_LIMITED_EXEC))


def missing_protections(compiler: str | os.PathLike[str]) -> str | None:
    """What a foreign module could still do here if it took over `compiler`, as one line; None: nothing known."""
    return missing_in(described(compiler), os.fspath(compiler))


def described(compiler: str | os.PathLike[str]) -> str:
    """Output of `limited_exec --describe`."""
    command = [limited_exec(), "--describe", os.fspath(compiler)]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def missing_in(described: str, compiler: str) -> str | None:
    """See `missing_protections`.

    Args: described: output of `limited_exec --describe`.
    """
    found = {name: int(value) for name, value in (line.split() for line in described.splitlines())}
    version = found["landlock"]
    missing = []
    if not version:
        missing.append("no Landlock, so compiles can write outside their temporary directories")
    elif version < _PROTECTS_FROM_TRUNCATION:
        missing.append(f"Landlock {version}, so compiles can truncate files outside their temporary directories")
    elif version < _PROTECTS_FROM_SIGNALS:
        missing.append(f"Landlock {version}, so compiles can send signals to your other processes")
    if not found["filter"]:
        missing.append("no seccomp filters, so compiles can use the network")
    if not found["native"]:
        missing.append(f"{compiler} is no ELF program, so compiles can start programs")
    elif not found["filter"] and not version:
        missing.append("compiles can start programs")
    return f"compiles are confined in part only: {'; '.join(missing)}" if missing else None
