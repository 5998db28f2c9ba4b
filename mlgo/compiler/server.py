"""Compiles through a compile server: a compiler that is ready before it is asked, and forks for each compile.

`development/server` is the server. A compile has the same directory, limits, environment, session and bounded messages
as one that `mlgo.compiler.process` starts, and leaves the same files. Only the start-up time is saved.
"""

import contextlib
import copy
import dataclasses
import os
import pathlib
import socket
import struct
import subprocess
from collections.abc import Iterator, Sequence

from mlgo.compiler import machine
from mlgo.compiler.compile import compiler_environment
from mlgo.compiler.hang import HangGuard
from mlgo.compiler.process import BoundedText, Cancellation, Cancelled, Confinement, ProcessOutcome, polling
from mlgo.compiler.request import CompileDisturbed, CompileLimits
from mlgo.run.exit_codes import RunError

# development/server/protocol.h
_LENGTH = struct.Struct("<I")
_LIMITS = struct.Struct("<QQQ")
_ANSWER = struct.Struct("<qqqq")
_COMPILE, _SHARE, _FINISH, _RELEASE, _KILL = b"C", b"S", b"F", b"R", b"K"
_ENDED, _READY, _RELEASED = 1, 2, 3

#: Output of a command whose compile is shared. With NO_OUTPUT only the log is wanted, and the compile may end after the
#: score of the last decision.
STDOUT, NO_OUTPUT = "-", "/dev/null"

#: How long a server may take to shut down; after that it is killed.
_SHUTDOWN_TIMEOUT_SECONDS = 10.0


class ServerDied(CompileDisturbed):
    """The server ended in the middle of a compile, or before it could take one."""

    def __init__(self, detail: str):
        super().__init__("end of the compile server", detail)


class CompileServer:
    """A running server. One compile at a time; not for use by several threads at once."""

    def __init__(self, program: str | os.PathLike[str], walls: Confinement = Confinement.ALL):
        """Starts `program`, a //development:compile_server, which confines its compiles by `walls`.

        Raises: RunError: it cannot be started; OSError: the machine lacks memory, processes or files.
        """
        self._socket, theirs = socket.socketpair()
        with theirs:
            try:
                # Without a terminal it gets no Ctrl-C, which we handle. When we die, it reads the end of the stream,
                # ends its compile and exits.
                self._process = subprocess.Popen(  # pylint: disable=consider-using-with
                    [os.fspath(program), str(theirs.fileno()), walls],
                    env=dict(compiler_environment()),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            except OSError as error:
                self._socket.close()
                if machine.is_shortage(error):
                    raise
                subject, wrong = f"compile server {os.fspath(program)}", f"cannot be started: {error.strerror}"
                build = "build it with ./bazelw build //development:compile_server"
                raise RunError(subject, wrong, f"{build}, or leave it out: it only saves time") from error

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def __call__(
        self, command_line: Sequence[str], directory: str, limits: CompileLimits, cancellation: Cancellation | None
    ) -> ProcessOutcome:
        """Runs a `clang -cc1` command; a `Runner` (mlgo/compiler/compile.py).

        Raises: ServerDied: use another one. Cancelled: the compile has ended; the server can go on.
        """
        return self._run(_COMPILE, BoundedText(), command_line, directory, limits, cancellation)

    @contextlib.contextmanager
    def shared(
        self, command_line: Sequence[str], directory: str, limits: CompileLimits, cancellation: Cancellation | None
    ) -> Iterator["SharedCompile | None"]:
        """Compiles that differ only in their policy; entering the block compiles up to the first decision.

        Args:
          command_line: writes its object to STDOUT, or to NO_OUTPUT. Its file names are relative to each directory.
          directory: where it works until then.

        Yields: what goes on from there; None when the compile ended before: it failed, or decides nothing.
        Raises: as a call does.
        """
        with self._ordered(_SHARE, BoundedText(), command_line, directory, limits) as messages:
            event, _, cpu_seconds, _ = self._wait(messages, limits.wall_seconds, cancellation, _RELEASED)
            if event != _READY:
                yield None
                return
            messages.rest()
            yield SharedCompile(self, messages.text, cpu_seconds)
            self._order(_RELEASE)
            self._answer(_RELEASED)

    def finish(
        self, said: BoundedText, name: str, directory: str, limits: CompileLimits, cancellation: Cancellation | None
    ) -> ProcessOutcome:
        """See SharedCompile."""
        return self._run(_FINISH, copy.deepcopy(said), [name], directory, limits, cancellation)

    def close(self) -> None:
        """Ends the server, and the compile that it is at."""
        self._socket.close()
        try:
            self._process.wait(_SHUTDOWN_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _run(
        self,
        order: bytes,
        said: BoundedText,
        words: Sequence[str],
        directory: str,
        limits: CompileLimits,
        cancellation: Cancellation | None,
    ) -> ProcessOutcome:
        with self._ordered(order, said, words, directory, limits) as messages:
            event, status, cpu_seconds, hung = self._wait(messages, limits.wall_seconds, cancellation, _ENDED)
            if event != _ENDED:
                raise ServerDied("what several compiles share has ended")
            return ProcessOutcome(os.waitstatus_to_exitcode(status), messages.rest(), hung, cpu_seconds)

    @contextlib.contextmanager
    def _ordered(
        self, order: bytes, said: BoundedText, words: Sequence[str], directory: str, limits: CompileLimits
    ) -> Iterator["_Messages"]:
        """Orders a compile. Yields: its messages, which are added to `said`."""
        numbers = _LIMITS.pack(limits.cpu_seconds, limits.address_space_bytes, limits.log_bytes)
        texts = b"".join(os.fsencode(text) + b"\0" for text in (directory, *words))
        reader, writer = os.pipe()
        try:
            os.set_blocking(reader, False)
            try:
                self._order(order + numbers + texts, writer)
            finally:
                os.close(writer)  # It is the compiler's alone.
            yield _Messages(said, reader)
        finally:
            os.close(reader)

    def _order(self, payload: bytes, messages: int | None = None) -> None:
        """Args: messages: the descriptor that the compiler writes to."""
        try:
            length = _LENGTH.pack(len(payload))
            if messages is None:
                self._socket.sendall(length + payload)
            else:
                socket.send_fds(self._socket, [length], [messages])
                self._socket.sendall(payload)
        except OSError as error:
            raise ServerDied(f"the compile server does not take an order: {error.strerror}") from error

    def _wait(
        self, messages: "_Messages", wall_seconds: float, cancellation: Cancellation | None, end: int
    ) -> tuple[int, int, float, bool]:
        """The server's next answer: event, status, CPU seconds, and whether the compile was killed because it hung.

        Args: end: the answer to a kill.
        """
        guard = HangGuard(self.process_id, wall_seconds)
        poll = polling(self._socket, messages.reader, cancellation)
        while (ready := guard.ready(poll)) is not None:
            if cancellation is not None and cancellation.fileno() in ready:
                break
            if messages.reader in ready and not messages.text.read_from(messages.reader):
                poll.unregister(messages.reader)
            if self._socket.fileno() in ready:
                return (*self._answer(), False)
        self._order(_KILL)
        answer = self._answer(end)
        if ready is not None:
            raise Cancelled()
        return (*answer, True)

    def _answer(self, awaited: int | None = None) -> tuple[int, int, float]:
        """The server's next answer, or the next one of the awaited kind: event, status, CPU seconds."""
        self._socket.settimeout(_SHUTDOWN_TIMEOUT_SECONDS)
        try:
            while True:
                answer = b""
                while len(answer) < _ANSWER.size:
                    part = self._socket.recv(_ANSWER.size - len(answer))
                    if not part:
                        raise ServerDied("the compile server has ended")
                    answer += part
                event, status, cpu_microseconds, _ = _ANSWER.unpack(answer)
                if awaited in (None, event):
                    return event, status, cpu_microseconds / 1e6
        except OSError as error:
            raise ServerDied(f"the compile server does not answer: {error}") from error
        finally:
            self._socket.settimeout(None)


@dataclasses.dataclass
class _Messages:
    """What a compiler writes to stderr, the middle left out when it is long."""

    text: BoundedText
    reader: int  #: end of a pipe.

    def rest(self) -> str:
        return self.text.rest_from(self.reader)


class SharedCompile:
    """A compile that stands at its first decision. Usable inside the block of `CompileServer.shared` that gave it."""

    def __init__(self, server: CompileServer, said: BoundedText, cpu_seconds: float):
        self._server, self._said, self._cpu_seconds = server, said, cpu_seconds
        #: It, or its server, has ended: no other compile can go on from it.
        self.has_ended = False

    def run(
        self, command_line: Sequence[str], directory: str, limits: CompileLimits, cancellation: Cancellation | None
    ) -> ProcessOutcome:
        """Goes on from the decision in `directory`, with the policy there; a `Runner`. Raises: as CompileServer.

        The first compile is charged with the shared part's CPU time. Of the command, only the object's name counts.
        """
        name = command_line[list(command_line).index("-o") + 1]
        try:
            outcome = self._server.finish(self._said, name, directory, limits, cancellation)
        except ServerDied:
            self.has_ended = True
            raise
        shared, self._cpu_seconds = self._cpu_seconds, 0.0
        return dataclasses.replace(outcome, cpu_seconds=outcome.cpu_seconds + shared)


def beside(clang: str | os.PathLike[str]) -> pathlib.Path | None:
    """The compile server that was built together with `clang`, or None when there is none beside it."""
    given = pathlib.Path(clang)
    for compiler in (given, given.resolve()):
        candidate = compiler.parent / "compile_server"
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    return None
