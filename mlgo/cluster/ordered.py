"""Compiles requests on the nodes of a pool, repeats those of lost and slow nodes, and keeps the order of the outcomes.

Results never depend on any of it: outcomes are functions of their requests and are handed back in the requests' order.
"""

import collections
import concurrent.futures
import itertools
import queue
import threading
from collections.abc import Callable, Iterable, Iterator

from mlgo.cluster.scheduling import Node, NodeLost, NodePool, Outcome, Run
from mlgo.compiler.request import CompileRequest
from mlgo.run.exit_codes import RunError

# As for local compiles (mlgo/compiler/executor.py): a slow module must not stop the others, and finished logs, a few MB
# each, must not fill the driver's memory.
_LOOKAHEAD = 64
_LOOKAHEAD_PER_SLOT = 4

_MAX_THREADS = 4096

#: A compile that was under way on this many lost nodes stops the run: it may be what loses them.
MAX_LOSSES = 4


class _Job:
    """A request, and where it is compiled. The first outcome counts: outcomes are functions of their requests.

    Attributes:
      attempts: outcomes to come; the first attempt repeats the compile when its node is lost.
      node: of the first attempt; None while that waits for one.
      since: when that node got it (NodePool.clock).
    """

    def __init__(self, request: CompileRequest):
        self.request = request
        self.attempts: list[concurrent.futures.Future[Outcome]] = [concurrent.futures.Future()]
        self.node: Node | None = None
        self.since = 0.0

    def is_late(self, limit_seconds: float, now: float) -> bool:
        """Whether a backup is due: one node has had it for longer than `limit_seconds`."""
        return (
            len(self.attempts) == 1
            and not self.attempts[0].done()
            and self.node is not None
            and now - self.since > limit_seconds
        )


def _compile_somewhere(job: _Job, run: Run, pool: NodePool) -> Outcome:
    """Compiles on any node, and on another one when that is lost.

    Raises: Cancelled; RunError: there are no nodes, the request cannot be sent to any, or it may be what loses them.
    """
    for _ in range(MAX_LOSSES):
        node = pool.acquire(run)
        job.since, job.node = pool.clock(), node
        try:
            return _compile_on(node, job, run, pool)
        except NodeLost:
            job.node = None
    # No failure of the module, which would change results: the machines may be what is wrong.
    raise RunError(
        f"compile of {job.request.module.name}",
        f"lost {MAX_LOSSES} nodes that it was under way on ({pool.last_loss})",
        "Look for what ends nodes, such as too little memory; start nodes, and run the same command again",
    )


def _compile_on(node: Node, job: _Job, run: Run, pool: NodePool) -> Outcome:
    """Compiles in a slot that the pool gave, and gives the slot back. Raises: NodeLost, Cancelled, RunError."""
    begin = pool.clock()
    try:
        outcome = node.compile(run, job.request)
    except NodeLost as error:
        pool.drop(node, str(error))
        raise
    finally:
        pool.release(node)
    pool.count(node)
    run.durations.append(pool.clock() - begin)
    return outcome


class _Workers:
    """Threads that compile jobs in their order, as many as nodes have slots: more would only wait."""

    def __init__(self, run: Run, pool: NodePool):
        self._run, self._pool = run, pool
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._backups: list[threading.Thread] = []

    def add(self, request: CompileRequest) -> _Job:
        """Has a request compiled."""
        job = _Job(request)
        self._jobs.put(job)
        return job

    def grow(self, pending: int) -> None:
        """Starts as many threads as `pending` jobs and the slots that there are by now can use."""
        while len(self._threads) < min(pending, max(1, self._pool.slots), _MAX_THREADS):
            self._threads.append(threading.Thread(target=self._work, name="cluster", daemon=True))
            self._threads[-1].start()

    def back_up(self, job: _Job, node: Node) -> None:
        """Has a job compiled a second time, in a slot of `node` that the pool gave."""
        attempt: concurrent.futures.Future[Outcome] = concurrent.futures.Future()
        job.attempts.append(attempt)
        arguments = (attempt, _compile_on, node, job, self._run, self._pool)
        self._backups.append(threading.Thread(target=_settle, args=arguments, name="cluster backup", daemon=True))
        self._backups[-1].start()

    def close(self) -> None:
        """Waits for the threads; the run is cancelled."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in (*self._threads, *self._backups):
            thread.join()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            _settle(job.attempts[0], _compile_somewhere, job, self._run, self._pool)


def _settle(attempt: concurrent.futures.Future, function: Callable[..., Outcome], *arguments) -> None:
    try:
        attempt.set_result(function(*arguments))
    except BaseException as error:  # pylint: disable=broad-exception-caught
        attempt.set_exception(error)


def run_ordered(requests: Iterable[CompileRequest], run: Run, pool: NodePool) -> Iterator[Outcome]:
    """Yields the outcome of each request, in their order, taking requests in the caller's thread as they are needed.

    A compile that takes much longer than others is repeated on an idle node: its own may be slow or out of reach.
    When the iterator is closed, or on KeyboardInterrupt, nodes give up what they compile for it.

    Raises: RunError: there are no nodes, a request cannot be sent to any, or it may be what loses them.
    """
    workers = _Workers(run, pool)
    pending: collections.deque[_Job] = collections.deque()
    remaining = iter(requests)

    def fill() -> None:
        lookahead = max(_LOOKAHEAD, _LOOKAHEAD_PER_SLOT * pool.slots)
        for request in itertools.islice(remaining, max(0, lookahead - len(pending))):
            pending.append(workers.add(request))
        workers.grow(len(pending))

    def back_up() -> None:
        limit, now = run.late_seconds(), pool.clock()
        for job in pending:
            if job.is_late(limit, now):
                if (idle := pool.acquire_idle(job.node)) is None:
                    return
                workers.back_up(job, idle)

    def first_outcome(job: _Job) -> Outcome:
        while True:
            done, _ = concurrent.futures.wait(job.attempts, pool.look_seconds, concurrent.futures.FIRST_COMPLETED)
            for attempt in done:
                if not isinstance(attempt.exception(), NodeLost):
                    return attempt.result()
                job.attempts.remove(attempt)  # A backup: the first attempt goes on by itself.
            if not done:
                workers.grow(len(pending))  # Nodes may have joined.
                back_up()

    try:
        fill()
        while pending:
            outcome = first_outcome(pending[0])
            pending.popleft()
            fill()
            yield outcome
    finally:
        pool.cancel(run)
        workers.close()
