"""Adds up the CPU time of compiles, for reports."""

from collections.abc import Iterable, Iterator
from typing import Any

from mlgo.compiler.executor import Executor
from mlgo.compiler.request import CompileFailure, CompileRequest, CompileResult


class MeteredExecutor:
    """Runs compiles on another executor.

    Attributes: cpu_seconds: CPU time of the compiles that succeeded so far. It differs from run to run.
    """

    def __init__(self, executor: Executor):
        self._executor = executor
        self.cpu_seconds = 0.0

    def run_ordered(self, requests: Iterable[CompileRequest]) -> Iterator[CompileResult | CompileFailure]:
        """See Executor."""
        outcomes: Any = self._executor.run_ordered(requests)
        try:
            for outcome in outcomes:
                if isinstance(outcome, CompileResult):
                    self.cpu_seconds += outcome.cpu_seconds
                yield outcome
        finally:
            outcomes.close()

    def close(self) -> None:
        """See Executor."""
        self._executor.close()
