"""How fast a node's processors are: a group of processes that may use a part of a core (cgroups, version 1 or 2)."""

import contextlib
import errno
import os
import pathlib
import time
from collections.abc import Iterator

from mlgo.run.exit_codes import RunError

_MOUNTS = pathlib.Path("/proc/self/mounts")
_PERIOD_MICROSECONDS = 100_000
_END_SECONDS = 30


class Group:
    """A control group of this machine.

    Args: folder: of its own, below the mount of the CPU controller.
    """

    def __init__(self, folder: pathlib.Path):
        self._folder = folder

    def entering(self, command: list[str]) -> list[str]:
        """A command that runs `command`, and all that it starts, in the group."""
        return ["sh", "-c", 'echo $$ >"$0" && exec "$@"', str(self._folder / "cgroup.procs"), *command]

    def limit(self, cores: float) -> None:
        """From now on the group may use `cores` cores, e.g. 0.5."""
        quota = round(cores * _PERIOD_MICROSECONDS)
        if (self._folder / "cpu.max").exists():
            (self._folder / "cpu.max").write_text(f"{quota} {_PERIOD_MICROSECONDS}", "ascii")
        else:
            (self._folder / "cpu.cfs_period_us").write_text(str(_PERIOD_MICROSECONDS), "ascii")
            (self._folder / "cpu.cfs_quota_us").write_text(str(quota), "ascii")


def controller(mounts: str) -> tuple[pathlib.Path, int] | None:
    """Where groups that limit CPU time are made, and their version; None: `mounts` (/proc/mounts) has no such place."""
    unified = None
    for line in mounts.splitlines():
        _, folder, kind, options = line.split()[:4]
        if kind == "cgroup" and "cpu" in options.split(","):
            return pathlib.Path(folder), 1
        if kind == "cgroup2":
            unified = pathlib.Path(folder)
    return None if unified is None else (unified, 2)


@contextlib.contextmanager
def group(name: str) -> Iterator[Group]:
    """A group without a limit at first; it is removed with the block, when its processes have ended.

    Raises: RunError: this machine has no CPU controller, or does not let this process use it.
    """
    found = controller(_MOUNTS.read_text("utf-8"))
    if found is None:
        raise RunError(str(_MOUNTS), "has no cgroup file system with a CPU controller", "Mount one as root")
    mount, version = found
    folder = mount / name
    try:
        if version == 2:
            (mount / "cgroup.subtree_control").write_text("+cpu", "ascii")
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise RunError(str(folder), f"cannot be made: {error.strerror}", "Start this as root of the machine") from error
    try:
        yield Group(folder)
    finally:
        _remove(folder)


def _remove(folder: pathlib.Path) -> None:
    """Removes a group when its processes, which were killed, are gone. Raises: RunError: they stay."""
    end = time.monotonic() + _END_SECONDS
    while True:
        try:
            return os.rmdir(folder)
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > end:
                remedy = f"End the processes that {folder}/cgroup.procs lists, and remove the folder"
                raise RunError(str(folder), f"cannot be removed: {error.strerror}", remedy) from error
            time.sleep(0.05)
