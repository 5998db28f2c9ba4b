"""Runs many compiles on this machine's cores and hands back the results in the order of the requests."""

import collections
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Protocol

from mlgo.compiler.attempts import certain_outcome
from mlgo.compiler.process import Cancellation, Cancelled
from mlgo.compiler.request import CompileOutcome, CompileRequest, CompileResult

# How many compiles may run or wait, finished, for an earlier one: a slow module must not stop the others, and finished
# logs (a few MB each) must not fill the memory.
_LOOKAHEAD = 64
_LOOKAHEAD_PER_WORKER = 4


#: Outcomes in the order of the requests; `close()` ends running compiles.
Outcomes = Generator[CompileOutcome, None, None]


class Executor(Protocol):
    """Where compiles run. Every executor gives the same outcomes for the same requests, byte for byte."""

    def run_ordered(self, requests: Iterable[CompileRequest]) -> Outcomes:
        """Yields the outcome of each request, in their order; they are read as needed, in the caller's thread.

        Raises: RunError: a compile could not even be tried, or the machine ends it again and again.
        """

    def close(self) -> None:
        """Gives back what is kept between runs. The executor is not used afterwards."""


class LocalExecutor:
    """This machine's cores: a process per compile. Args: workers: compiles at a time; None: one per core."""

    def __init__(self, workers: int | None = None):
        self._workers = workers

    def run_ordered(self, requests: Iterable[CompileRequest]) -> Outcomes:
        """See Executor. On KeyboardInterrupt too, all running compilers are killed and no other is started."""
        return run_groups(([request] for request in requests), _compile_each, self._workers)

    def close(self) -> None:
        """Nothing is kept."""


class CountingExecutor:
    """Runs compiles on another executor; `tell` says at the end how many were repeated, when any were."""

    def __init__(self, executor: Executor, tell: Callable[[str], None]):
        self._executor, self._tell = executor, tell
        self._repeated = 0
        self._reasons: collections.Counter[str] = collections.Counter()
        self.cpu_seconds = 0.0  #: of the compiles that succeeded so far. It differs from run to run.

    def run_ordered(self, requests: Iterable[CompileRequest]) -> Outcomes:
        """See Executor."""
        with contextlib.closing(self._executor.run_ordered(requests)) as outcomes:
            for outcome in outcomes:
                self._repeated += bool(outcome.repeats)
                self._reasons.update(outcome.repeats)
                if isinstance(outcome, CompileResult):
                    self.cpu_seconds += outcome.cpu_seconds
                yield outcome

    def close(self) -> None:
        """See Executor. Tells, for example, "repeated 2 compiles (crash 1, SIGKILL 2); results do not change"."""
        self._executor.close()
        if self._repeated:
            counts = ", ".join(f"{reason} {count}" for reason, count in sorted(self._reasons.items()))
            self._tell(f"repeated {self._repeated} compiles ({counts}); results do not change")


#: Compiles a group of requests in a worker; returns an outcome for each, in their order.
GroupCompiler = Callable[[Sequence[CompileRequest], Cancellation], Sequence[CompileOutcome]]


def run_groups(
    groups: Iterable[Sequence[CompileRequest]], compile_group: GroupCompiler, workers: int | None = None
) -> Outcomes:
    """`run_ordered`, where each group of requests is compiled by one worker, by `compile_group`."""
    workers = workers or available_cores()
    if workers < 1:
        raise ValueError(f"workers={workers} must be at least 1")
    lookahead = max(_LOOKAHEAD, _LOOKAHEAD_PER_WORKER * workers)
    cancellation, free_workers = Cancellation(), threading.Semaphore(workers)
    pool = concurrent.futures.ThreadPoolExecutor(workers, thread_name_prefix="compile")
    pending: collections.deque[tuple[int, concurrent.futures.Future]] = collections.deque()
    remaining = iter(groups)

    def submit_more() -> None:
        # A group at a time and at least one per worker, however large groups are.
        while len(pending) < workers or sum(size for size, _ in pending) < lookahead:
            group = next(remaining, None)
            if group is None:
                return
            pending.append((len(group), pool.submit(compile_unless_cancelled, group)))

    def compile_unless_cancelled(group: Sequence[CompileRequest]) -> Sequence[CompileOutcome]:
        with free_workers:
            if cancellation.is_triggered():
                raise Cancelled()
            return compile_group(group, cancellation)

    try:
        submit_more()
        while pending:
            outcomes = pending[0][1].result()
            pending.popleft()
            submit_more()
            yield from outcomes
    finally:
        cancellation.trigger()
        pool.shutdown(wait=True, cancel_futures=True)
        # KeyboardInterrupt may hit the pool while it starts a thread; such a thread is not among those it waits for.
        for _ in range(workers):
            free_workers.acquire()


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def _compile_each(requests: Sequence[CompileRequest], cancellation: Cancellation) -> list[CompileOutcome]:
    return [certain_outcome(request, cancellation) for request in requests]
