"""Which node compiles what, and what happens when a node is lost. Knows nothing of Ray: nodes are whatever can compile.

Results never depend on any of it: outcomes are functions of their requests and are handed back in the requests' order.
"""

import collections
import concurrent.futures
import heapq
import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from mlgo.compiler.process import Cancelled
from mlgo.compiler.request import CompileFailure, CompileRequest, CompileResult
from mlgo.run.exit_codes import RunError

Outcome = CompileResult | CompileFailure

# As for local compiles (mlgo/compiler/executor.py): a slow module must not stop the others, and finished logs, a few MB
# each, must not fill the driver's memory.
_LOOKAHEAD = 64
_LOOKAHEAD_PER_SLOT = 4

_MAX_THREADS = 4096

#: A compile that was under way on this many lost nodes stops the run: it may be what loses them.
MAX_LOSSES = 4


class NodeLost(Exception):
    """The node is lost, or does not work any more; the message gives the symptom."""


class Run:
    """One call of `run_ordered`.

    Attributes:
      name: what nodes know it by; unique among the runs that share nodes.
      cancelled: whether its compiles are no longer wanted.
    """

    def __init__(self, name: str):
        self.name = name
        self.cancelled = False


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
    """

    def __init__(self, patience_seconds: float, tell: Callable[[str], None]):
        self._patience_seconds = patience_seconds
        self._tell = tell
        self._free: dict[Node, int] = {}
        self._waiting: list[tuple[int, _Turn]] = []
        self._tickets = itertools.count()
        self._lock = threading.Lock()
        self._empty_since = time.monotonic()
        self._last_loss = "none has joined"

    @property
    def nodes(self) -> list[Node]:
        """The nodes that get compiles, in the order in which they joined."""
        with self._lock:
            return list(self._free)

    @property
    def slots(self) -> int:
        """How many compiles at a time all nodes can do together."""
        return sum(node.slots for node in self.nodes)

    @property
    def last_loss(self) -> str:
        """The node that was lost last, and why, for messages."""
        with self._lock:
            return self._last_loss

    def add(self, node: Node) -> None:
        """Gives compiles to `node` from now on."""
        with self._lock:
            self._free[node] = node.slots
            self._grant()

    def drop(self, node: Node, reason: str) -> None:
        """Gives no more compiles to `node`; those under way there are for their callers to repeat."""
        with self._lock:
            if self._free.pop(node, None) is None:
                return
            self._last_loss = f"{node.name}: {reason}"
            self._empty_since = time.monotonic()
            left = len(self._free)
        self._tell(f"cluster: lost node {node.name} ({reason}); its compiles under way are repeated on the {left} left")

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
            heapq.heappush(self._waiting, (next(self._tickets), turn))
            self._grant()
        while not turn.event.wait(timeout=1.0):
            with self._lock:
                if (
                    turn.node is None
                    and not self._free
                    and time.monotonic() - self._empty_since > self._patience_seconds
                ):
                    turn.abandoned = True
                    raise RunError(
                        "Ray cluster",
                        f"for {self._patience_seconds:g} s it has had no node that compiles ({self._last_loss})",
                        "Start nodes as docs/train-on-a-cluster.md says; the same command then goes on",
                    )
        if turn.node is None:
            raise Cancelled()
        return turn.node

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
            self._grant()
        for node in self.nodes:
            node.end(run)

    def _grant(self) -> None:
        for _, turn in self._waiting:
            if turn.run.cancelled:
                turn.abandoned = True
                turn.event.set()
        while self._waiting:
            if self._waiting[0][1].abandoned:
                heapq.heappop(self._waiting)
                continue
            # The emptiest node, as a part of what it can do; names only make it definite.
            node = max(self._free, key=lambda node: (self._free[node] / node.slots, node.name), default=None)
            if node is None or not self._free[node]:
                return
            self._free[node] -= 1
            _, turn = heapq.heappop(self._waiting)
            turn.node = node
            turn.event.set()


class _Turn:
    """A caller that waits for a node."""

    def __init__(self, run: Run):
        self.run = run
        self.event = threading.Event()
        self.node: Node | None = None
        self.abandoned = False


def compile_somewhere(run: Run, request: CompileRequest, pool: NodePool) -> Outcome:
    """Compiles on any node, and on another one when that is lost.

    Raises: Cancelled; RunError: there are no nodes, the request cannot be sent to any, or it may be what loses them.
    """
    for _ in range(MAX_LOSSES):
        node = pool.acquire(run)
        try:
            return node.compile(run, request)
        except NodeLost as error:
            pool.drop(node, str(error))
        finally:
            pool.release(node)
    # No failure of the module, which would change results: the machines may be what is wrong.
    raise RunError(
        f"compile of {request.module.name}",
        f"lost {MAX_LOSSES} nodes that it was under way on ({pool.last_loss})",
        "Look for what ends nodes, such as too little memory; start nodes, and run the same command again",
    )


def run_ordered(requests: Iterable[CompileRequest], run: Run, pool: NodePool) -> Iterator[Outcome]:
    """Yields the outcome of each request, in their order, taking requests in the caller's thread as they are needed.

    When the iterator is closed, or on KeyboardInterrupt, nodes give up what they compile for it.

    Raises: RunError: as `compile_somewhere`.
    """
    # Threads only wait for nodes, and as many are started as there are requests pending.
    threads = concurrent.futures.ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="cluster")
    pending: collections.deque[concurrent.futures.Future] = collections.deque()
    remaining = iter(requests)

    def fill() -> None:
        lookahead = max(_LOOKAHEAD, _LOOKAHEAD_PER_SLOT * pool.slots)
        for request in itertools.islice(remaining, max(0, lookahead - len(pending))):
            pending.append(threads.submit(compile_somewhere, run, request, pool))

    try:
        fill()
        while pending:
            outcome = pending.popleft().result()
            fill()
            yield outcome
    finally:
        pool.cancel(run)
        threads.shutdown(wait=True, cancel_futures=True)
