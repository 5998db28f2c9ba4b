"""Which nodes have a file, and which of them sends it to the next node.

A file that all nodes want, such as the compiler, would leave the driver once for each of them. So each node that has it
sends it on: the copies grow like a tree, and the driver sends few. Knows nothing of Ray.
"""

import collections
import contextlib
import dataclasses
import threading
from collections.abc import Callable, Hashable, Iterator

#: How many nodes the driver sends large files to at a time. A second copy at the same time would halve the speed of the
#: first, which then sends the second itself.
DRIVER_SENDS = 1
#: The same for a node, which compiles meanwhile.
NODE_SENDS = 2

_LOOK_SECONDS = 1.0


@dataclasses.dataclass
class Sent:
    """Bytes of files that arrived, by who sent them."""

    by_driver: int = 0
    by_nodes: int = 0


class Suppliers:
    """The senders of each file. Used by several threads.

    The driver has every file, and is the sender None.

    Attributes: sent: what was counted.
    """

    def __init__(self):
        self.sent = Sent()
        self._having: dict[str, list[Hashable]] = collections.defaultdict(list)
        self._sending: collections.Counter[Hashable | None] = collections.Counter()
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def sender(self, digest: str, given_up: Callable[[], bool]) -> Iterator[Hashable | None]:
        """The one to send the file with `digest`; waits until one of them has time, a node rather than the driver.

        Args: given_up: whether the file is not wanted any more; then the driver is the answer, at once.
        """
        with self._changed:
            while not (free := self._free(digest)) and not given_up():
                self._changed.wait(_LOOK_SECONDS)
            chosen = free[0] if free else None
            self._sending[chosen] += 1
        try:
            yield chosen
        finally:
            with self._changed:
                self._sending[chosen] -= 1
                self._changed.notify_all()

    def add(self, digest: str, node: Hashable) -> None:
        """Has `node` send the file with `digest` from now on."""
        with self._changed:
            if node not in self._having[digest]:
                self._having[digest].append(node)
                self._changed.notify_all()

    def drop(self, node: Hashable) -> None:
        """Has `node` send nothing any more: it is lost, or failed to send."""
        with self._changed:
            for nodes in self._having.values():
                if node in nodes:
                    nodes.remove(node)

    def count(self, sender: Hashable | None, size: int) -> None:
        """Counts a file of `size` bytes that `sender` has sent."""
        with self._changed:
            if sender is None:
                self.sent.by_driver += size
            else:
                self.sent.by_nodes += size

    def _free(self, digest: str) -> list[Hashable | None]:
        nodes = [node for node in self._having[digest] if self._sending[node] < NODE_SENDS]
        nodes.sort(key=lambda node: self._sending[node])
        return nodes or ([None] if self._sending[None] < DRIVER_SENDS else [])
