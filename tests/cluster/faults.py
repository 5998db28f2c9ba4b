"""An Ethernet switch whose links lose and delay frames, or are cut: what netem of Linux does, where a kernel lacks it.

Only decides; `network.py` moves the frames.
"""

import dataclasses
import heapq
import itertools
import random

_BROADCAST = 1  # The lowest bit of an address's first byte marks addresses of several stations.
_ADDRESS_BYTES = 6


@dataclasses.dataclass(frozen=True)
class Fault:
    """What happens to a frame that a link sends.

    Attributes:
      loss: probability that it is lost, in [0, 1].
      delay_seconds: how long it is under way, >= 0.
      cut: whether the link carries nothing, in both directions.
    """

    loss: float = 0.0
    delay_seconds: float = 0.0
    cut: bool = False

    def __post_init__(self):
        if not 0 <= self.loss <= 1:
            raise ValueError(f"loss={self.loss}: must lie in [0, 1]")
        if self.delay_seconds < 0:
            raise ValueError(f"delay_seconds={self.delay_seconds}: must be 0 or more")


@dataclasses.dataclass(frozen=True)
class Phase:
    """A time with faults: `faults` are those of the nodes, in their order."""

    title: str
    faults: tuple[Fault, ...]


def phases(nodes: int, loss: float, delay_seconds: float, cut_nodes: int) -> list[Phase]:
    """The trial's phases with faults; all last equally long."""
    lossy = Fault(loss=loss, delay_seconds=delay_seconds)
    cut = (Fault(),) * (nodes - cut_nodes) + (Fault(cut=True),) * cut_nodes
    return [
        Phase(
            f"links lose {100 * loss:g} % of the frames and delay them {1000 * delay_seconds:g} ms", (lossy,) * nodes
        ),
        Phase(f"the links of the last {cut_nodes} nodes are cut", cut),
    ]


@dataclasses.dataclass
class Count:
    """Frames of a link: `sent` by its node, those `lost` by chance, those that a `cut` stopped, in both directions."""

    sent: int = 0
    lost: int = 0
    cut: int = 0


class Switch:
    """Learns which link an address is behind, and holds the frames that are under way.

    Args:
      links: their number, >= 1.
      seed: of the losses.

    Attributes:
      faults: one for each link; replace an entry to change it.
      counts: one for each link.
    """

    def __init__(self, links: int, seed: int = 1):
        self.faults = [Fault() for _ in range(links)]
        self.counts = [Count() for _ in range(links)]
        self._random = random.Random(seed)
        self._behind: dict[bytes, int] = {}
        self._under_way: list[tuple[float, int, int, bytes]] = []
        self._order = itertools.count()

    def accept(self, link: int, frame: bytes, now: float) -> None:
        """Takes a frame that the node behind `link` sends at `now` (seconds of any clock)."""
        fault, count = self.faults[link], self.counts[link]
        target, source = frame[:_ADDRESS_BYTES], frame[_ADDRESS_BYTES : 2 * _ADDRESS_BYTES]
        self._behind[source] = link
        count.sent += 1
        if fault.cut:
            count.cut += 1
        elif fault.loss and self._random.random() < fault.loss:
            count.lost += 1
        else:
            for other in self._targets(link, target):
                if self.faults[other].cut:
                    self.counts[other].cut += 1
                else:
                    entry = (now + fault.delay_seconds, next(self._order), other, frame)
                    heapq.heappush(self._under_way, entry)

    def due(self, now: float) -> list[tuple[int, bytes]]:
        """Takes out the frames that arrive by `now`, with the link of each, in the order of their arrival."""
        found = []
        while self._under_way and self._under_way[0][0] <= now:
            _, _, link, frame = heapq.heappop(self._under_way)
            found.append((link, frame))
        return found

    def next_arrival(self) -> float | None:
        """When the next frame arrives; None: none is under way."""
        return self._under_way[0][0] if self._under_way else None

    def _targets(self, link: int, target: bytes) -> list[int]:
        if not target[0] & _BROADCAST and target in self._behind:
            known = self._behind[target]
            return [known] if known != link else []
        return [other for other in range(len(self.faults)) if other != link]
