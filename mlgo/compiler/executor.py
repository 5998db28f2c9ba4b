"""Runs many compiles on this machine's cores and hands back the results in the order of the requests."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator

from mlgo.compiler.request import CompileFailure, CompileRequest, CompileResult, FailureKind
from mlgo.run.exit_codes import ExitCode, RunError


class TooManyFailures(RunError):
    """More compiles failed than allowed; exit code TOO_MANY_FAILURES."""

    def __init__(self, read: str, wrong: str, remedy: str):
        super().__init__(read, wrong, remedy, ExitCode.TOO_MANY_FAILURES)


@dataclasses.dataclass
class FailureSummary:
    """Counts of compiles by outcome, with the first failure of each kind as an example."""

    succeeded: int = 0
    failures: dict[FailureKind, list[CompileFailure]] = dataclasses.field(default_factory=dict)

    def add(self, outcome: CompileResult | CompileFailure) -> None:
        raise NotImplementedError

    def describe(self) -> str:
        """One line: "118 of 120 compiled, 2 failed: crash 1 (first: NAME: DETAIL), timeout 1 (first: ...)"."""
        raise NotImplementedError

    def check(self, max_failures: int) -> None:
        """Raises: TooManyFailures: more than `max_failures` failed, or none succeeded."""
        raise NotImplementedError


def run_ordered(
    requests: Iterable[CompileRequest],
    workers: int | None = None,
    progress: Callable[[CompileResult | CompileFailure], None] | None = None,
) -> Iterator[CompileResult | CompileFailure]:
    """Yields the outcome of each request, in the order of `requests`, whatever the number of workers (None: all cores).

    `progress` is called in the consumer's thread just before each yield. On KeyboardInterrupt, or when the iterator is
    closed, all running compilers are killed and no other is started.
    """
    raise NotImplementedError
