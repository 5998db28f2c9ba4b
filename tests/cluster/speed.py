"""How fast a node's processors are: a group of processes that may use a part of a core."""

import contextlib
from collections.abc import Iterator

from tests.isolation import control_group

_PERIOD_MICROSECONDS = 100_000


class Group(control_group.ControlGroup):
    """A control group that limits CPU time."""

    def limit(self, cores: float) -> None:
        """From now on the group may use `cores` cores, e.g. 0.5."""
        quota = round(cores * _PERIOD_MICROSECONDS)
        if (self._folder / "cpu.max").exists():
            (self._folder / "cpu.max").write_text(f"{quota} {_PERIOD_MICROSECONDS}", "ascii")
        else:
            (self._folder / "cpu.cfs_period_us").write_text(str(_PERIOD_MICROSECONDS), "ascii")
            (self._folder / "cpu.cfs_quota_us").write_text(str(quota), "ascii")


@contextlib.contextmanager
def group(name: str) -> Iterator[Group]:
    """A group without a limit at first; it is removed with the block, when its processes have ended.

    Raises: RunError: see `control_group.made`.
    """
    with control_group.made(name, "cpu") as (folder, _):
        yield Group(folder)
