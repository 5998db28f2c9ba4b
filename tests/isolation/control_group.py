"""Control groups of Linux, version 1 or 2: processes of which something is limited or counted together."""

import contextlib
import errno
import os
import pathlib
import shlex
import time
from collections.abc import Iterator, Sequence

from mlgo.run.exit_codes import RunError

_MOUNTS = pathlib.Path("/proc/self/mounts")
_END_SECONDS = 30
#: Of version 1 alone: in version 2 every group counts CPU time.
CPU_TIME = "cpuacct"


class ControlGroup:
    """A control group of this machine.

    Args: folder: of its own, below the mount of its controller.

    Attributes:
      enter: a command of a shell that puts the shell and its later children into the group.
    """

    def __init__(self, folder: pathlib.Path):
        self._folder = folder
        self.enter = f"echo $$ >{shlex.quote(str(folder / 'cgroup.procs'))}"

    def entering(self, command: Sequence[str]) -> list[str]:
        """A command that runs `command`, and all that it starts, in the group."""
        return ["sh", "-c", f'{self.enter} && exec "$@"', "sh", *map(str, command)]


def controller(mounts: str, name: str) -> tuple[pathlib.Path, int] | None:
    """Where groups of a controller are made, and their version; None: `mounts` (/proc/mounts) has no such place.

    Args: name: such as `cpu`.
    """
    unified = None
    for line in mounts.splitlines():
        _, folder, kind, options = line.split()[:4]
        if kind == "cgroup" and name in options.split(","):
            return pathlib.Path(folder), 1
        if kind == "cgroup2":
            unified = pathlib.Path(folder)
    return None if unified is None else (unified, 2)


@contextlib.contextmanager
def made(name: str, of: str) -> Iterator[tuple[pathlib.Path, int]]:
    """The folder of a new group called `name` of the controller `of`, and its version.

    It is removed with the block, when its processes have ended.

    Raises: RunError: this machine has no such controller, does not let this process use it, or the processes stay.
    """
    found = controller(_MOUNTS.read_text("utf-8"), of)
    if found is None:
        raise RunError(str(_MOUNTS), f"names no control group for {of}", "Mount a cgroup file system with it as root")
    mount, version = found
    folder = mount / name
    try:
        if version == 2 and of != CPU_TIME:
            (mount / "cgroup.subtree_control").write_text(f"+{of}", "ascii")
        with contextlib.suppress(FileNotFoundError):
            # Left by a program that was killed.
            folder.rmdir()
        folder.mkdir()
    except OSError as error:
        raise RunError(str(folder), f"cannot be made: {error.strerror}", "Start this as root of the machine") from error
    try:
        yield folder, version
    finally:
        _remove(folder)


def _remove(folder: pathlib.Path) -> None:
    """Removes a group when its processes are gone. Raises: RunError: they stay."""
    end = time.monotonic() + _END_SECONDS
    while True:
        try:
            return os.rmdir(folder)
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > end:
                remedy = f"End the processes that {folder}/cgroup.procs lists, and remove the folder"
                raise RunError(str(folder), f"cannot be removed: {error.strerror}", remedy) from error
            time.sleep(0.05)
