"""What several works cost, done in turns: A B C C B A ...; the cheapest time of each counts."""

import resource
from collections.abc import Callable

TURNS = 5


def cheapest(works: dict[str, Callable[[], object]], cost: Callable[[Callable[[], object]], float]) -> dict[str, float]:
    """Name -> the least of TURNS costs of its work. Args: cost: does a work and returns what it took."""
    found = {name: float("inf") for name in works}
    for turn in range(TURNS):
        for name in works if turn % 2 == 0 else reversed(works):
            found[name] = min(found[name], cost(works[name]))
    return found


def cpu_seconds_of(work: Callable[[], object]) -> float:
    """User and system CPU seconds of the processes that `work` starts and waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
