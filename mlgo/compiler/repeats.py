"""Counts the attempts at compiles that did not count, for one line at the end of a command."""

import collections
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mlgo.compiler.executor import Executor
from mlgo.compiler.request import CompileFailure, CompileRequest, CompileResult


class Repeats:
    """Why compiles were repeated, counted."""

    def __init__(self):
        self._reasons: collections.Counter[str] = collections.Counter()
        self._compiles = 0

    def add(self, outcome: CompileResult | CompileFailure) -> None:
        """Counts what was passed over before `outcome`."""
        self._compiles += bool(outcome.repeats)
        self._reasons.update(outcome.repeats)

    def describe(self) -> str | None:
        """For example "repeated 2 compiles (crash 1, SIGKILL from outside 2); results do not change"; None: none."""
        if not self._compiles:
            return None
        counts = ", ".join(f"{reason} {count}" for reason, count in sorted(self._reasons.items()))
        return f"repeated {self._compiles} compiles ({counts}); results do not change"


class CountingExecutor:
    """Runs compiles on another executor; says at the end how many were repeated, when any were.

    Args: tell: shows a line to the user.
    """

    def __init__(self, executor: Executor, tell: Callable[[str], None]):
        self._executor, self._tell = executor, tell
        self._repeats = Repeats()

    def run_ordered(self, requests: Iterable[CompileRequest]) -> Iterator[CompileResult | CompileFailure]:
        """See Executor."""
        outcomes: Any = self._executor.run_ordered(requests)
        try:
            for outcome in outcomes:
                self._repeats.add(outcome)
                yield outcome
        finally:
            outcomes.close()

    def close(self) -> None:
        """See Executor."""
        self._executor.close()
        if (line := self._repeats.describe()) is not None:
            self._tell(line)
