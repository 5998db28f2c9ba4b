"""CPU time of processes that live, by their name, and of what they have started and waited for."""

import contextlib
import os
import pathlib
from collections.abc import Iterable

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def of_stat(text: str) -> tuple[str, float, float]:
    """Name, own CPU seconds and CPU seconds of ended children that it waited for, of one /proc/PID/stat (proc(5))."""
    # The name stands in parentheses and may contain some.
    name, rest = text.partition("(")[2].rsplit(")", 1)
    user, system, children_user, children_system = (int(word) for word in rest.split()[11:15])
    return name, (user + system) / _TICKS_PER_SECOND, (children_user + children_system) / _TICKS_PER_SECOND


def by_kind(process_ids: Iterable[int], proc: pathlib.Path = pathlib.Path("/proc")) -> dict[str, float]:
    """Kind → CPU seconds: `NAME` for processes of a name, `ended children of NAME` for what they waited for."""
    seconds: dict[str, float] = {}
    for process_id in process_ids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            name, own, children = of_stat((proc / str(process_id) / "stat").read_text("utf-8", "replace"))
            for kind, used in ((name, own), (f"ended children of {name}", children)):
                seconds[kind] = seconds.get(kind, 0) + used
    return seconds
