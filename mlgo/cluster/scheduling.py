"""The nodes that there are, and which of their slots are free. Knows nothing of Ray: nodes are whatever can compile.

`ordered.py` compiles on them.
"""

import collections
import heapq
import itertools
import statistics
import threading
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from mlgo.compiler.process import Cancelled
from mlgo.compiler.request import CompileFailure, CompileRequest, CompileResult
from mlgo.run.exit_codes import RunError

Outcome = CompileResult | CompileFailure


#: A compile is late, and repeated on an idle node, when it takes this long and so many times as long as others do: a
#: node may be out of reach for a minute before Ray 2.60 says so, and all nodes wait for the last compile of an
#: iteration.
_LATE_SECONDS = 5.0
_LATE_MEDIANS = 4.0
#: Compiles whose durations say how long others take.
_RECENT = 256

#: Of so many nodes the number of compiles is listed; of more the least and the most.
_MOST_LISTED_NODES = 16


class NodeLost(Exception):
    """The node is lost, or does not work any more; the message gives the symptom."""


class Run:
    """One call of `run_ordered`.

    Attributes:
      name: what nodes know it by; unique among the runs that share nodes.
      cancelled: whether its compiles are no longer wanted.
      durations: of its last compiles on nodes, seconds.
    """

    def __init__(self, name: str):
        self.name = name
        self.cancelled = False
        self.durations: collections.deque[float] = collections.deque(maxlen=_RECENT)

    def late_seconds(self) -> float:
        """How long a compile may take before an idle node repeats it."""
        return max(_LATE_SECONDS, _LATE_MEDIANS * statistics.median(tuple(self.durations) or (0.0,)))


class Node(Protocol):
    """Something that compiles.

    Attributes:
      name: for messages, unique.
      slots: how many compiles at a time, >= 1.
    """

    name: str
    slots: int

    def compile(self, run: Run, request: CompileRequest) -> Outcome:
        """The outcome. Raises: NodeLost; Cancelled: the run ended; RunError: the request cannot be sent to any node."""

    def end(self, run: Run) -> None:
        """Ends what the run still compiles there; does not wait."""


class NodePool:
    """The nodes there are, and which of their slots are free. Used by several threads and runs.

    Args:
      patience_seconds: how long compiles wait when there is no node at all.
      tell: shows a line to the user.
      clock: seconds.
      look_seconds: how often a run looks for late compiles, and whoever waits for a node, for the end of the patience.

    Attributes:
      clock, look_seconds: as given.
      compiled: number of finished compiles by node name, of lost nodes too.
      backups: number of compiles that an idle node repeated because they took long.
    """

    def __init__(
        self,
        patience_seconds: float,
        tell: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        look_seconds: float = 1.0,
    ):
        self._patience_seconds = patience_seconds
        self._tell = tell
        self.clock, self.look_seconds = clock, look_seconds
        self._free: dict[Node, int] = {}
        self._slots = 0
        self._waiting: list[tuple[int, _Turn]] = []
        self._tickets = itertools.count()
        self._lock = threading.Lock()
        self._empty_since = clock()
        self._has_lost, self._last_loss = False, "none has joined"
        self.compiled: collections.Counter[str] = collections.Counter()
        self.backups = 0

    @property
    def nodes(self) -> list[Node]:
        """The nodes that get compiles, in the order in which they joined."""
        with self._lock:
            return list(self._free)

    @property
    def slots(self) -> int:
        """How many compiles at a time all nodes can do together."""
        return self._slots

    @property
    def last_loss(self) -> str:
        """The node that was lost last, and why, for messages."""
        with self._lock:
            return self._last_loss

    def add(self, node: Node) -> None:
        """Gives compiles to `node` from now on."""
        with self._lock:
            self._free[node] = node.slots
            self._slots += node.slots
            nodes, has_lost = len(self._free), self._has_lost
            self._grant()
        # Until the first loss the user has no reason to look for nodes.
        if has_lost:
            self._tell(f"cluster: node {node.name} joined; there are {nodes} nodes")

    def drop(self, node: Node, reason: str) -> None:
        """Gives no more compiles to `node`; those under way there are for their callers to repeat."""
        with self._lock:
            if self._free.pop(node, None) is None:
                return
            self._slots -= node.slots
            self._has_lost, self._last_loss = True, f"{node.name}: {reason}"
            self._empty_since = self.clock()
            left = len(self._free)
        self._tell(f"cluster: lost node {node.name} ({reason}); its compiles under way are repeated on the {left} left")

    def count(self, node: Node) -> None:
        """Counts a finished compile."""
        with self._lock:
            self.compiled[node.name] += 1

    def refuse(self, reason: str) -> None:
        """Remembers why something could not become a node: said when compiles wait in vain."""
        with self._lock:
            self._last_loss = reason

    def acquire(self, run: Run) -> Node:
        """A node with a free slot, for `release`; the longest-waiting caller is first.

        Raises:
          Cancelled: the run was cancelled.
          RunError: for `patience_seconds` there has been no node.
        """
        turn = _Turn(run)
        with self._lock:
            if run.cancelled:
                raise Cancelled()
            heapq.heappush(self._waiting, (next(self._tickets), turn))
            self._grant()
        while not turn.event.wait(timeout=self.look_seconds):
            with self._lock:
                if turn.node is None and not self._free and self.clock() - self._empty_since > self._patience_seconds:
                    turn.abandoned = True
                    raise RunError(
                        "Ray cluster",
                        f"for {self._patience_seconds:g} s it has had no node that compiles ({self._last_loss})",
                        "Start nodes as docs/train-on-a-cluster.md says; the same command then goes on",
                    )
        if turn.node is None:
            raise Cancelled()
        return turn.node

    def acquire_idle(self, besides: Node | None) -> Node | None:
        """A node with a slot that is free while no caller waits for one, for `release`; None: there is none.

        Args: besides: not this node.
        """
        with self._lock:
            if any(not turn.abandoned for _, turn in self._waiting):
                return None
            node = self._emptiest(besides)
            if node is None or not self._free[node]:
                return None
            self._free[node] -= 1
            self.backups += 1
            return node

    def release(self, node: Node) -> None:
        """Gives a slot back."""
        with self._lock:
            if node in self._free:
                self._free[node] += 1
                self._grant()

    def cancel(self, run: Run) -> None:
        """Ends the waiting of a run, now and later, and what its nodes compile for it."""
        with self._lock:
            run.cancelled = True
            for _, turn in self._waiting:
                if turn.run is run:
                    turn.abandoned = True
                    turn.event.set()
            self._grant()
        for node in self.nodes:
            node.end(run)

    def _grant(self) -> None:
        while self._waiting:
            if self._waiting[0][1].abandoned:
                heapq.heappop(self._waiting)
                continue
            node = self._emptiest()
            if node is None or not self._free[node]:
                return
            self._free[node] -= 1
            _, turn = heapq.heappop(self._waiting)
            turn.node = node
            turn.event.set()

    def _emptiest(self, besides: Node | None = None) -> Node | None:
        """The node with most free slots, as a part of what it can do; names only make it definite."""
        nodes = (node for node in self._free if node is not besides)
        return max(nodes, key=lambda node: (self._free[node] / node.slots, node.name), default=None)


def compiles_by_node(compiled: Mapping[str, int]) -> str:
    """One line for the user. Args: compiled: number of finished compiles by node name."""
    counts = f"{sum(compiled.values()):,} compiles on {len(compiled)} nodes"
    if not compiled:
        return counts
    if len(compiled) > _MOST_LISTED_NODES:
        return f"{counts}, {min(compiled.values()):,} to {max(compiled.values()):,} on each"
    return f"{counts}: {', '.join(f'{name} {number:,}' for name, number in sorted(compiled.items()))}"


class _Turn:
    """A caller that waits for a node."""

    def __init__(self, run: Run):
        self.run = run
        self.event = threading.Event()
        self.node: Node | None = None
        self.abandoned = False
