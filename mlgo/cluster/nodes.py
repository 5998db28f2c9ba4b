"""The nodes of a cluster, as Ray lists them again and again: who came, who is lost. Knows nothing of Ray's calls."""

import collections
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mlgo.run.exit_codes import RunError

#: How long a run waits for a first node, or for another when all are lost: a machine may take that long to start.
_PATIENCE_SECONDS = 120.0
#: Of so many nodes the number of compiles is listed; of more the least and the most.
_MOST_LISTED_NODES = 16


class Nodes:
    """The nodes that compile. Attributes: compiled: finished compiles by the node's id, of lost nodes too."""

    def __init__(self, tell: Callable[[str], None], clock: Callable[[], float]):
        self._tell, self._clock = tell, clock
        self._cpus: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._empty_since = clock()
        self._has_lost = False
        self._told: set[str] = set()
        self.compiled: collections.Counter[str] = collections.Counter()

    def look(self, listed: Iterable[Mapping[str, Any]]) -> None:
        """Notes what ray.nodes() returns. Raises: RunError: there has been no node for `_PATIENCE_SECONDS`."""
        alive = {}
        for node in listed:
            name, cpus = node["NodeID"], int(node["Resources"].get("CPU", 0))
            if node["Alive"] and cpus:
                alive[name] = cpus
                self._names[name] = f"{node['NodeManagerAddress']} ({name[:8]})"
        for lost in self._cpus.keys() - alive.keys():
            self._has_lost = True
            said = f"cluster: lost node {self._names[lost]}; its compiles under way are repeated on the"
            self._tell(f"{said} {len(alive)} left")
        for joined in sorted(alive.keys() - self._cpus.keys()):
            # Until the first loss the user has no reason to look for nodes.
            if self._has_lost:
                self._tell(f"cluster: node {self._names[joined]} joined; there are {len(alive)} nodes")
        if self._cpus and not alive:
            self._empty_since = self._clock()
        self._cpus = alive
        if not alive and self._clock() - self._empty_since > _PATIENCE_SECONDS:
            remedy = "Start nodes as docs/train-on-a-cluster.md says; the same command then goes on"
            raise RunError("Ray cluster", f"for {_PATIENCE_SECONDS:g} s it has had no node that compiles", remedy)

    @property
    def cpus(self) -> int:
        """CPUs that all nodes offer together."""
        return sum(self._cpus.values())

    def cpus_per_compile(self, workers: int | None) -> int:
        """CPUs of a compile, so that at most `workers` of them run on the smallest node; None: one for each CPU."""
        return max(1, -(-min(self._cpus.values(), default=1) // workers)) if workers else 1

    def count(self, node: str, missing: str | None) -> None:
        """Counts a finished compile. Args: missing: what does not confine compiles on that node; told once."""
        self.compiled[node] += 1
        if missing is not None and node not in self._told:
            self._told.add(node)
            self._tell(f"node {self._names.get(node, node)}: {missing}")

    def describe(self) -> str:
        """One line for the user: how many compiles each node has finished."""
        counts = f"{sum(self.compiled.values()):,} compiles on {len(self.compiled)} nodes"
        if not self.compiled:
            return counts
        if len(self.compiled) > _MOST_LISTED_NODES:
            return f"{counts}, {min(self.compiled.values()):,} to {max(self.compiled.values()):,} on each"
        by_name = sorted((self._names.get(node, node), number) for node, number in self.compiled.items())
        return f"{counts}: {', '.join(f'{name} {number:,}' for name, number in by_name)}"
