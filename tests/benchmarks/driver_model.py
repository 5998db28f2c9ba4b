"""A simulation of the driver of a cluster: with how many compiles at a time it becomes what nodes wait for.

A closed queue: each slot of the nodes has one compile at a time. A compile passes the driver's Python, which one core
at a time can run, the driver's other cores (Ray's threads, hashing), its network, a node, and all three again on the
way back. When the compiles of an iteration are done, the driver learns, and nodes wait. Equal inputs, equal results.
"""

import dataclasses
import heapq
from collections.abc import Sequence

#: What keeps slots waiting, in the order in which a compile meets it.
STATIONS = ("Python", "cores", "network")
#: A driver is saturated when less than this part of what all slots could compile is compiled.
SATURATED = 0.9


@dataclasses.dataclass(frozen=True)
class Costs:
    """What is measured.

    Attributes:
      python_seconds: CPU of the driver's Python threads for a compile, >= 0.
      core_seconds: CPU of its other threads for a compile, hashing included, >= 0.
      message_bytes: that pass the driver's network for a compile, both ways, >= 0.
      learning_seconds: wall clock of an update on the driver for each compile of the iteration, >= 0.
      compile_seconds: on a node, of some compiles; used in turn; each > 0.
    """

    python_seconds: float
    core_seconds: float
    message_bytes: float
    learning_seconds: float
    compile_seconds: tuple[float, ...]

    def __post_init__(self):
        for name in ("python_seconds", "core_seconds", "message_bytes", "learning_seconds"):
            if getattr(self, name) < 0:
                raise ValueError(f"Costs.{name}={getattr(self, name)}: must be 0 or more")
        if not self.compile_seconds or min(self.compile_seconds) <= 0:
            raise ValueError("Costs.compile_seconds: must hold positive durations")


@dataclasses.dataclass(frozen=True)
class Driver:
    """The driver's machine.

    Attributes:
      cores: >= 2; Python takes one of them.
      network_bytes: per second, > 0.
    """

    cores: int
    network_bytes: float

    def __post_init__(self):
        if self.cores < 2 or self.network_bytes <= 0:
            raise ValueError(f"{self}: needs 2 cores or more and a network")


@dataclasses.dataclass(frozen=True)
class Collection:
    """One iteration.

    Attributes:
      seconds: until the last compile is done.
      busy: part of the slots' time in which they compile, in [0, 1].
      stations: for each of `STATIONS`, the part of the time in which it works, in [0, 1].
      learning_seconds: of the update after it.
    """

    seconds: float
    busy: float
    stations: dict[str, float]
    learning_seconds: float

    @property
    def learning(self) -> float:
        """Part of the iteration in which nodes wait for the update."""
        return self.learning_seconds / (self.seconds + self.learning_seconds)


class _Station:
    """Servers that take jobs in the order of their arrival."""

    def __init__(self, servers: int):
        self._free = [0.0] * servers
        self.worked = 0.0

    def serve(self, now: float, seconds: float) -> float:
        """When a job that arrives now is done; calls come in the order of time."""
        done = max(now, heapq.heappop(self._free)) + seconds
        heapq.heappush(self._free, done)
        self.worked += seconds
        return done


def collect(costs: Costs, driver: Driver, slots: int, compiles: int) -> Collection:
    """Simulates one iteration. Args: slots: of all nodes, >= 1; compiles: of the iteration, >= 1."""
    servers = (1, driver.cores - 1, 1)
    stations = [_Station(number) for number in servers]
    half = (costs.python_seconds / 2, costs.core_seconds / 2, costs.message_bytes / driver.network_bytes / 2)
    way = [(0, half[0]), (1, half[1]), (2, half[2]), None, (2, half[2]), (1, half[1]), (0, half[0])]
    # Time, number of the compile, stage: equal times are in the order of the compiles.
    events = [(0.0, number, 0) for number in range(min(slots, compiles))]
    begun, last, compiled = len(events), 0.0, 0.0
    while events:
        now, number, stage = heapq.heappop(events)
        if stage == len(way):
            last = max(last, now)
            if begun < compiles:
                heapq.heappush(events, (now, begun, 0))
                begun += 1
            continue
        if (visit := way[stage]) is None:
            seconds = costs.compile_seconds[number % len(costs.compile_seconds)]
            compiled += seconds
            done = now + seconds
        else:
            done = stations[visit[0]].serve(now, visit[1])
        heapq.heappush(events, (done, number, stage + 1))
    worked = {
        name: station.worked / number / last for name, station, number in zip(STATIONS, stations, servers, strict=True)
    }
    return Collection(last, compiled / slots / last, worked, compiles * costs.learning_seconds)


def saturated_at(costs: Costs, driver: Driver, candidates: Sequence[int], compiles_per_slot: int = 16) -> int | None:
    """The least of the numbers of slots, ascending, that the driver cannot keep busy; None: it can with all of them.

    The end of an iteration, when some slots have no compile left, is not the driver's doing: each number is compared
    with a driver that costs nothing.
    """
    free = Costs(0.0, 0.0, 0.0, 0.0, costs.compile_seconds)
    for slots in candidates:
        compiles = compiles_per_slot * slots
        if collect(free, driver, slots, compiles).seconds < SATURATED * collect(costs, driver, slots, compiles).seconds:
            return slots
    return None


def slots_equal_to_learning(costs: Costs) -> float:
    """With so many slots, nodes wait for the update as long as they compile."""
    mean = sum(costs.compile_seconds) / len(costs.compile_seconds)
    return mean / costs.learning_seconds if costs.learning_seconds else float("inf")
