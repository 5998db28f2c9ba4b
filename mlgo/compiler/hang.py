"""Finds compilers that wait for ever. The load of the machine, a stopped process and a sleeping laptop are no hang."""

import dataclasses
import pathlib
import select
import time
from collections.abc import Callable

#: States of tasks that wait for the machine (proc(5)): runnable, in the disk's queue, stopped by a signal or a tracer.
_STATES_OF_THE_MACHINE = frozenset("RDTt")


@dataclasses.dataclass(frozen=True)
class Activity:
    """What processes have done so far."""

    cpu_ticks: int  #: CPU time of all of them together, in clock ticks.
    waits_for_machine: bool  #: one of them would go on if the machine let it.


class HangGuard:
    """Says whether a process and its descendants hang: for a window of wall clock they only slept and used no CPU."""

    def __init__(
        self,
        process_id: int,
        window_seconds: float,
        activity_of: Callable[[int], Activity] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._process_id, self._window_seconds = process_id, window_seconds
        self._activity_of, self._clock = activity_of or activity_of_family, clock
        self._used_ticks = 0
        self._end = clock() + window_seconds

    def seconds_left(self) -> float:
        """Until `is_hung` has something to say; may be negative."""
        return self._end - self._clock()

    def is_hung(self) -> bool:
        """Whether the processes hang. False begins another window at its end."""
        if self.seconds_left() > 0:
            return False
        found = self._activity_of(self._process_id)
        if found.cpu_ticks == self._used_ticks and not found.waits_for_machine:
            return True
        self._used_ticks = found.cpu_ticks
        self._end = self._clock() + self._window_seconds
        return False

    def ready(self, poll: select.poll) -> set[int] | None:
        """Descriptors that became ready in the rest of the window, perhaps none; None: the processes hang."""
        if self.is_hung():
            return None
        return {descriptor for descriptor, _ in poll.poll(max(0.0, self.seconds_left()) * 1000)}


def activity_of_family(process_id: int, proc: pathlib.Path = pathlib.Path("/proc")) -> Activity:
    """The activity of a process and its descendants; those that have ended count for nothing."""
    parents = {int(path.name): _status(path) for path in proc.iterdir() if path.name.isdigit()}
    family = {process_id}
    while more := {child for child, status in parents.items() if status and int(status[1]) in family} - family:
        family |= more
    tasks = [_status(task) for member in family for task in (proc / str(member) / "task").glob("*")]
    # Fields of proc(5): state, ppid, ... utime and stime are the 12th and 13th after the name.
    return Activity(
        sum(int(status[11]) + int(status[12]) for status in tasks if status),
        any(status[0] in _STATES_OF_THE_MACHINE for status in tasks if status),
    )


def _status(folder: pathlib.Path) -> list[str]:
    """The fields of `stat` after the name, which may hold spaces; none when the process is gone."""
    try:
        return (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
