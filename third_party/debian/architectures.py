"""The Debian architectures that packages are pinned for, and which one the host has.

Standard library only, like lockfile.py. `architecture.bzl` says the same to the repository rules; a test compares them.
"""

import dataclasses
import os
from typing import Mapping, Optional, Tuple

#: Repository environment variable that names another host than this machine (see `architecture.bzl`).
HOST_VARIABLE = "MLGO_HOST_ARCHITECTURE"


class ArchitectureError(Exception):
    """An architecture that nothing is pinned for; the message says which there are."""


@dataclasses.dataclass(frozen=True)
class Architecture:
    """One of Debian's architectures.

    Attributes:
        name: Debian's name, such as `amd64`.
        machines: what the kernel (`uname -m`), Java (`os.arch`) and users call it.
        multiarch: the folder of its libraries below `usr/lib`, such as `x86_64-linux-gnu`.
    """

    name: str
    machines: Tuple[str, ...]
    multiarch: str

    def filled(self, name: str) -> str:
        """A package name of packages.json, with `{gnu}` replaced: `binutils-{gnu}` is `binutils-x86-64-linux-gnu`."""
        return name.replace("{gnu}", self.multiarch.replace("_", "-"))


#: The lock holds its entries in full; those of the others as differences.
AMD64 = Architecture("amd64", ("amd64", "x86_64"), "x86_64-linux-gnu")
ARM64 = Architecture("arm64", ("arm64", "aarch64"), "aarch64-linux-gnu")
OTHERS = (ARM64,)


def named(asked: str, origin: str) -> Architecture:
    """The architecture with this name, in any of its spellings.

    Args:
        origin: where the name was read, for the message.

    Raises:
        ArchitectureError: nothing is pinned for it.
    """
    for architecture in (AMD64, *OTHERS):
        if asked in architecture.machines:
            return architecture
    known = ", ".join(architecture.name for architecture in (AMD64, *OTHERS))
    raise ArchitectureError(f"{origin}={asked}: no packages are pinned for this architecture; choose one of {known}")


def host(environ: Mapping[str, str], machine: Optional[str] = None) -> Architecture:
    """The architecture of the host: what HOST_VARIABLE names, else this machine's.

    Args:
        machine: what the kernel calls this machine; by default the kernel is asked.

    Raises:
        ArchitectureError: nothing is pinned for it.
    """
    if environ.get(HOST_VARIABLE):
        return named(environ[HOST_VARIABLE], HOST_VARIABLE)
    return named(machine or os.uname().machine, "the machine")
