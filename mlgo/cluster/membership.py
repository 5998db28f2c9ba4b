"""Lets the nodes of a cluster join the pool, and lets those that failed join again. Knows nothing of Ray.

What the cluster or a node raises never ends the search for nodes, and no node stays on its way for ever.
"""

import collections
import dataclasses
import threading
import time
from collections.abc import Callable, Iterable
from typing import Protocol

from mlgo.cluster.gate import Gate
from mlgo.cluster.scheduling import Node, NodePool
from mlgo.compiler.process import Cancelled

#: A node that failed as often in this time is not tried again before it is over.
_MAX_JOINS, _JOINS_SECONDS = 3, 3600.0


@dataclasses.dataclass(frozen=True)
class Listed:
    """A node that can compile, as the cluster lists it. Attributes: id: unique; name: for messages; cpus: >= 1."""

    id: str
    name: str
    cpus: int


class Candidate(Node, Protocol):
    """A node that may join."""

    def wait_until_ready(self) -> str | None:
        """Returns what does not confine compiles there, if anything. Raises: any exception: it is never ready."""

    def give_up(self) -> None:
        """Ends what may be left of it, which would keep CPUs from its successor."""


class Membership:
    """The nodes that joined or are on their way.

    Args:
      listed: the nodes that the cluster has now.
      connect: begins to use one of them.
      pool: what nodes join when they are ready; it also remembers why one could not.
      gate: closed when the executor ends.
      tell: shows a line to the user.
      start: runs a function beside the caller. Args: function; name: of the thread.
      clock: seconds.
    """

    def __init__(
        self,
        listed: Callable[[], Iterable[Listed]],
        connect: Callable[[Listed], Candidate],
        pool: NodePool,
        gate: Gate,
        tell: Callable[[str], None],
        start: Callable[[Callable[[], None], str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._listed, self._connect = listed, connect
        self._pool, self._gate, self._tell = pool, gate, tell
        self._start, self._clock = start or _in_thread, clock
        self._joins: dict[str, list[float]] = collections.defaultdict(list)
        self._members: dict[str, Candidate | None] = {}

    def look(self) -> None:
        """Lets the nodes that came join. Raises nothing but what `tell` raises."""
        try:
            listed = list(self._listed())
        except Exception as error:  # Ray and its RPC library raise many; the next look may succeed.
            self._pool.refuse(f"the cluster does not list its nodes: {_last_line(error)}")
            return
        for node in listed:
            try:
                self._consider(node)
            except Exception as error:  # As above; other nodes may still join.
                self._refuse(node, error)

    def _consider(self, node: Listed) -> None:
        if not self._may_join(node.id):
            return
        if node.id in self._members:
            former = self._members[node.id]
            # The pool is asked now: a node is among its nodes before it is among the members.
            if former is None or former in self._pool.nodes:
                return
            del self._members[node.id]
            former.give_up()
        self._joins[node.id].append(self._clock())
        self._members[node.id] = None  # on its way
        try:
            self._start(lambda: self._join(node), f"join {node.name}")
        except Exception:
            del self._members[node.id]
            raise

    def _may_join(self, node_id: str) -> bool:
        """Whether a node has not failed too often lately."""
        now = self._clock()
        return sum(now - joined < _JOINS_SECONDS for joined in self._joins[node_id]) < _MAX_JOINS

    def _join(self, node: Listed) -> None:
        candidate = None
        try:
            with self._gate:
                candidate = self._connect(node)
                if (gaps := candidate.wait_until_ready()) is not None:
                    self._tell(f"node {node.name}: {gaps}")
                self._pool.add(candidate)
        except Cancelled:
            pass  # The executor ends.
        except Exception as error:  # Whatever it is, the node is tried again, up to a limit.
            self._refuse(node, error)
        finally:
            if candidate is None:
                del self._members[node.id]
            else:
                self._members[node.id] = candidate

    def _refuse(self, node: Listed, error: Exception) -> None:
        reason = f"node {node.name} cannot be used: {_last_line(error)}"
        self._pool.refuse(reason)
        self._tell(f"cluster: {reason}")


def _last_line(error: BaseException) -> str:
    """What an exception says, in a line. Ray hands over whole tracebacks, whose last line is the exception."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else type(error).__name__


def _in_thread(function: Callable[[], None], name: str) -> None:
    threading.Thread(target=function, name=name, daemon=True).start()
