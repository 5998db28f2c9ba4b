"""What programs are built for: the machine that builds, or a target whose programs an emulator runs (//platforms)."""

import dataclasses
import json
import os
import pathlib

from mlgo.run import locate
from mlgo.run.exit_codes import RunError
from mlgo.run.manifest import digest_of_bytes, digest_of_file

#: Set by the command's BUILD target (mlgo/programs.bzl): target -> fields of Target, in JSON.
_TARGETS = "MLGO_PROGRAM_TARGETS"


@dataclasses.dataclass(frozen=True)
class Target:
    """A target and how its programs run."""

    name: str  #: as in //platforms, such as "aarch64".
    triple: str
    gcc: str  #: folder of libgcc in the sysroot.
    flags: tuple[str, ...] = ()
    #: the emulator and its flags, before a program's command; empty: this machine runs it.
    emulator: tuple[str, ...] = ()
    plugin: pathlib.Path | None = None  #: what counts under the emulator; None for this machine.

    def digest(self) -> str:
        """Digest of all that determines what a program is and what is counted in it; empty for this machine."""
        if not self.emulator or self.plugin is None:
            return ""
        files = [digest_of_file(pathlib.Path(self.emulator[0])), digest_of_file(self.plugin)]
        return digest_of_bytes("\0".join([self.triple, *self.flags, *self.emulator[1:], *files]).encode())


#: The machine that builds.
HOST = Target("x86_64", "x86_64-linux-gnu", "usr/lib/gcc/x86_64-linux-gnu/12")


def target_from_flags(name: str) -> Target:
    """The target `name` of //platforms; its emulator and plugin are fetched and built if they are not yet.

    Raises: RunError: there is none, or it has no emulator here.
    """
    if name == HOST.name:
        return HOST
    known = json.loads(os.environ.get(_TARGETS, "{}"))
    if name not in known:
        raise RunError(f"--target={name}", "is not a target of this command", f"Give {', '.join([HOST.name, *known])}")
    of_target = known[name]
    emulator = locate.program(None, f"--target={name}", f"MLGO_EMULATOR_{name}").absolute()
    plugin = locate.of_environment("MLGO_COUNT_PLUGIN")
    if plugin is None:
        raise RunError(f"--target={name}", "has no plugin that counts", "Start the command with ./bazelw run")
    # The seed of random numbers, so that every run executes the same.
    emulated = (str(emulator), *of_target["emulator_flags"], "-seed", "1")
    return Target(name, of_target["triple"], of_target["gcc"], tuple(of_target["flags"]), emulated, plugin.resolve())
