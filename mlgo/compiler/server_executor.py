"""Runs many compiles through compile servers, one per core, and hands back the results in the order of the requests."""

import contextlib
import dataclasses
import functools
import itertools
import os
import pathlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence

from mlgo.compiler import machine, scratch
from mlgo.compiler import server as servers
from mlgo.compiler.attempts import certain_outcome
from mlgo.compiler.compile import compile_module, prepared
from mlgo.compiler.executor import Executor, LocalExecutor, Outcomes, available_cores, run_groups
from mlgo.compiler.process import Cancellation, ProcessOutcome
from mlgo.compiler.request import CompileDisturbed, CompileFailure, CompileLimits, CompileOutcome, CompileRequest

# The shared part costs two to three times as much as one policy's part. Larger groups save little more, and at the end
# of a stage a worker with a large group makes the others wait.
_MOST_TOGETHER = 16


def executor_for(
    clang: str | os.PathLike[str],
    workers: int,
    program: str | os.PathLike[str] | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Executor:
    """The fastest executor on this machine for compiles with `clang`.

    Args: program: its compile server; None: the one beside it, if any. tell: prints a message when there is none.
    """
    found = pathlib.Path(program) if program is not None else servers.beside(clang)
    if found is None:
        tell(f"no compile server beside {os.fspath(clang)}: every compile starts a process, which takes longer")
        return LocalExecutor(workers)
    return ServerExecutor(clang, found, workers)


class ServerExecutor:
    """This machine's cores, each with a compile server, kept until `close`. Other compilers run as processes."""

    def __init__(self, clang: str | os.PathLike[str], program: str | os.PathLike[str], workers: int | None = None):
        """Args: program: compile server of the development `clang`; workers: compiles at a time, else one per core."""
        self._clang, self._program = pathlib.Path(clang).resolve(), program
        self._workers = workers or available_cores()
        self._lock = threading.Lock()
        self._idle: list[servers.CompileServer] = []
        self._closed = False

    def run_ordered(self, requests: Iterable[CompileRequest]) -> Outcomes:
        """See Executor. Requests which follow each other and differ in their policy only share what comes before it."""
        return run_groups(groups_of(requests), self._compile, self._workers)

    def _compile(self, requests: Sequence[CompileRequest], cancellation: Cancellation) -> list[CompileOutcome]:
        if requests[0].clang.resolve() != self._clang:
            return [certain_outcome(request, cancellation) for request in requests]
        outcomes = self.compile_together(requests, cancellation) if len(requests) > 1 else []
        left = requests[len(outcomes) :]
        return outcomes + [certain_outcome(request, cancellation, self.run) for request in left]

    def run(
        self, command_line: Sequence[str], directory: str, limits: CompileLimits, cancellation: Cancellation | None
    ) -> ProcessOutcome:
        """A `Runner`. Raises: RunError: the server's program cannot be started; ServerDied: the server ended."""
        with self._lent() as server:
            return server(command_line, directory, limits, cancellation)

    def compile_together(self, requests: Sequence[CompileRequest], cancellation: Cancellation) -> list[CompileOutcome]:
        """Compiles what differs in its policy only, up to the first decision once. Raises: as `certain_outcome`.

        Returns: outcomes of the first requests: all; none when the module reaches no decision; or some, when the server
          ended early.
        """
        outcomes: list[CompileOutcome] = []
        first = requests[0]
        try:
            with (
                machine.recognised_shortages(),
                self._lent() as server,
                scratch.scratch_directory(first.workdir) as directory,
            ):
                output = servers.STDOUT if first.want_object else servers.NO_OUTPUT
                command_line = prepared(first, directory, output=output)
                if isinstance(command_line, CompileFailure):
                    return []
                with server.shared(command_line, directory, first.limits, cancellation) as shared:
                    for request in requests:
                        if shared is None or shared.has_ended:
                            break
                        # Inside the shared directory: what has been begun there can write nowhere else.
                        inside = dataclasses.replace(request, workdir=pathlib.Path(directory))
                        together = functools.partial(compile_module, inside, cancellation, shared.run)
                        # A failure may come from sharing, and its message may differ: it is repeated alone.
                        outcomes.append(certain_outcome(request, cancellation, self.run, together))
        except CompileDisturbed:
            pass  # The caller compiles the others one by one.
        return outcomes

    def close(self) -> None:
        with self._lock:
            self._closed, idle, self._idle = True, self._idle, []
        for server in idle:
            server.close()

    @contextlib.contextmanager
    def _lent(self) -> Iterator[servers.CompileServer]:
        """A server that waits for work, or a new one; kept afterwards unless the block raises."""
        server = self._take()
        try:
            yield server
        except BaseException:
            server.close()
            raise
        with self._lock:
            if not self._closed:
                self._idle.append(server)
                return
        server.close()

    def _take(self) -> servers.CompileServer:
        with self._lock:
            while self._idle:
                server = self._idle.pop()
                # The machine may have ended it while it waited.
                if server.is_alive:
                    return server
                server.close()
        return servers.CompileServer(self._program)


def groups_of(requests: Iterable[CompileRequest]) -> Iterator[list[CompileRequest]]:
    """`requests` in their order, those together which follow each other and differ in their policy or decisions only.

    A request without either, with files of its own, or of ThinLTO's, whose pipeline is another, is a group of one.
    """
    for key, group in itertools.groupby(requests, _what_is_shared):
        while together := list(itertools.islice(group, 1 if key[0] is None else _MOST_TOGETHER)):
            yield together


def _what_is_shared(request: CompileRequest) -> tuple:
    given = request.model_dir is not None, request.decisions is not None
    alone = not any(given) or request.extra_files or request.module.has_thinlto_index
    return (None if alone else request.module, given, dataclasses.replace(request, model_dir=None, decisions=None))
