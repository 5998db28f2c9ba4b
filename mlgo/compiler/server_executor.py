"""Runs many compiles through compile servers, one per core, and hands back the results in the order of the requests."""

import os
import pathlib
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence

from mlgo.compiler import server as servers
from mlgo.compiler.compile import compile_module
from mlgo.compiler.executor import Executor, LocalExecutor, available_cores, run_ordered
from mlgo.compiler.process import Cancellation, ProcessOutcome
from mlgo.compiler.request import CompileFailure, CompileLimits, CompileRequest, CompileResult


def executor_for(
    clang: str | os.PathLike[str],
    workers: int,
    program: str | os.PathLike[str] | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Executor:
    """The fastest executor on this machine for compiles with `clang`.

    Args:
      program: the compile server that was built together with `clang`; None: the one beside it, if there is one.
      tell: is told, in a sentence, when there is none.
    """
    found = pathlib.Path(program) if program is not None else servers.beside(clang)
    if found is None:
        tell(f"no compile server beside {os.fspath(clang)}: every compile starts a process, which takes longer")
        return LocalExecutor(workers)
    return ServerExecutor(clang, found, workers)


class ServerExecutor:
    """This machine's cores, each with a compile server which is kept until `close`.

    Requests for another compiler than the servers' are compiled by processes of it.
    """

    def __init__(self, clang: str | os.PathLike[str], program: str | os.PathLike[str], workers: int | None = None):
        """
        Args:
          clang: a development clang.
          program: the compile server that was built together with it.
          workers: compiles at a time; None: one per core.
        """
        self._clang = pathlib.Path(clang).resolve()
        self._workers = workers or available_cores()
        self._pool = ServerPool(program)

    def run_ordered(self, requests: Iterable[CompileRequest]) -> Iterator[CompileResult | CompileFailure]:
        return run_ordered(requests, self._workers, compile_one=self._compile)

    def close(self) -> None:
        self._pool.close()

    def _compile(self, request: CompileRequest, cancellation: Cancellation) -> CompileResult | CompileFailure:
        if request.clang.resolve() != self._clang:
            return compile_module(request, cancellation)
        return compile_module(request, cancellation, self._pool.run)


class ServerPool:
    """Servers that wait for work, and as many more as are asked for at a time."""

    def __init__(self, program: str | os.PathLike[str]):
        self._program = program
        self._lock = threading.Lock()
        self._idle: list[servers.CompileServer] = []
        self._closed = False

    def run(
        self, command_line: Sequence[str], directory: str, limits: CompileLimits, cancellation: Cancellation | None = None
    ) -> ProcessOutcome:
        """A `Runner`. A compile whose server dies is tried once more; then it counts as killed.

        Raises: RunError: the server's program cannot be started.
        """
        for _ in range(2):
            server = self._take()
            try:
                outcome = server(command_line, directory, limits, cancellation)
            except servers.ServerDied:
                server.close()
            except BaseException:
                server.close()
                raise
            else:
                self._give_back(server)
                return outcome
        return ProcessOutcome(-signal.SIGKILL, "its compile server ended, twice", False, 0.0)

    def close(self) -> None:
        with self._lock:
            self._closed, idle, self._idle = True, self._idle, []
        for server in idle:
            server.close()

    def _take(self) -> servers.CompileServer:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return servers.CompileServer(self._program)

    def _give_back(self, server: servers.CompileServer) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(server)
                return
        server.close()
