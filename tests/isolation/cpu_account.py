"""CPU time of all processes of a group, ended ones included, as the kernel counts it."""

import contextlib
import os
import pathlib
from collections.abc import Iterator

from tests.isolation import control_group


class CpuAccount(control_group.ControlGroup):
    """A control group that only counts."""

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

    def process_ids(self) -> list[int]:
        """The processes of the group that live."""
        return [int(line) for line in (self._folder / "cgroup.procs").read_text("ascii").split()]


@contextlib.contextmanager
def cpu_account(name: str) -> Iterator[CpuAccount]:
    """A group of this name, for as long as the block; its processes must end with it.

    Raises: RunError: see `control_group.made`.
    """
    with control_group.made(name, control_group.CPU_TIME) as (folder, _):
        yield CpuAccount(folder)
