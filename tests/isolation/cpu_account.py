"""CPU time of all processes of a group, ended ones included, as the kernel counts it."""

import contextlib
import os
import pathlib
from collections.abc import Iterator, Sequence

#: The folders of groups of control groups version 1 and 2.
_V1 = pathlib.Path("/sys/fs/cgroup/cpuacct")
_V2 = pathlib.Path("/sys/fs/cgroup")


class CpuAccount:
    """A control group that only counts."""

    def __init__(self, folder: pathlib.Path):
        self._folder = folder

    def command(self, command: Sequence[str]) -> list[str]:
        """`command`, so that it and everything it starts is counted."""
        enter = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
        return ["sh", "-c", enter, str(self._folder), *map(str, command)]

    @contextlib.contextmanager
    def of_children(self) -> Iterator[None]:
        """What this process does and starts in the block is counted."""
        self._enter(self._folder)
        try:
            yield
        finally:
            self._enter(self._folder.parent)

    @staticmethod
    def _enter(folder: pathlib.Path) -> None:
        (folder / "cgroup.procs").write_text(str(os.getpid()), "ascii")

    def seconds(self) -> float:
        """CPU seconds used so far."""
        nanoseconds = self._folder / "cpuacct.usage"
        if nanoseconds.exists():
            return int(nanoseconds.read_text("ascii")) / 1e9
        values = dict(line.split() for line in (self._folder / "cpu.stat").read_text("ascii").splitlines())
        return int(values["usage_usec"]) / 1e6


@contextlib.contextmanager
def cpu_account(name: str) -> Iterator[CpuAccount]:
    """A group of this name, for as long as the block; its processes must have ended by then.

    Raises: OSError: the kernel lets this user make no control group.
    """
    folder = (_V1 if _V1.is_dir() else _V2) / name
    with contextlib.suppress(FileNotFoundError):
        # Left by a program that was killed.
        folder.rmdir()
    folder.mkdir()
    try:
        yield CpuAccount(folder)
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()
