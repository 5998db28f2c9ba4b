"""Compiles through a compile server: a compiler that is ready before it is asked, and forks for each compile.

`development/server` is the other side. What a compile sees, and what it leaves, is what `mlgo.compiler.process` gives it
as a process of its own: directory, limits, environment, a session of its own, bounded messages. Only the start-up is gone.
"""

import contextlib
import os
import pathlib
import select
import socket
import struct
import subprocess
import time
from collections.abc import Sequence

from mlgo.compiler.compile import compiler_environment
from mlgo.compiler.process import BoundedText, Cancellation, Cancelled, ProcessOutcome
from mlgo.compiler.request import CompileLimits
from mlgo.run.exit_codes import RunError

# development/server/protocol.h
_LENGTH = struct.Struct("<I")
_LIMITS = struct.Struct("<QQQ")
_ANSWER = struct.Struct("<qqqq")
_COMPILE, _KILL = b"C", b"K"
_ENDED = 1

#: How long a server may take to end when it is told to; after that it is killed.
_GOODBYE_SECONDS = 10.0


class ServerDied(Exception):
    """The server ended in the middle of a compile, or before it could take one."""


class CompileServer:
    """A running server. One compile at a time; not for use by several threads at once."""

    def __init__(self, program: str | os.PathLike[str]):
        """Starts `program`, a //development:compile_server.

        Raises: RunError: it cannot be started.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                # A session of its own takes away the terminal, whose Ctrl-C is ours to handle. When we die, it reads the
                # end of the stream, ends its compile, and goes.
                self._process = subprocess.Popen(  # pylint: disable=consider-using-with
                    [os.fspath(program), str(theirs.fileno())],
                    env=dict(compiler_environment()),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            except OSError as error:
                ours.close()
                raise RunError(
                    f"compile server {os.fspath(program)}", f"cannot be started: {error.strerror}",
                    "build it with ./bazelw build //development:compile_server, or leave it out: it only saves time",
                ) from error
        self._socket = ours

    @property
    def process_id(self) -> int:
        return self._process.pid

    def __call__(
        self, command_line: Sequence[str], directory: str, limits: CompileLimits, cancellation: Cancellation | None = None
    ) -> ProcessOutcome:
        """Runs a `clang -cc1` command; a `Runner` (mlgo/compiler/compile.py).

        Raises:
          ServerDied: use another one.
          Cancelled: the compile has ended; the server can go on.
        """
        reader, writer = os.pipe()
        with contextlib.closing(_Messages(reader)) as messages:
            try:
                self._order(_COMPILE + _description(command_line, directory, limits), writer)
            finally:
                os.close(writer)
            return self._wait(messages, limits.wall_seconds, cancellation)

    def close(self) -> None:
        """Ends the server, and the compile that it is at."""
        self._socket.close()
        try:
            self._process.wait(_GOODBYE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _order(self, payload: bytes, descriptor: int | None = None) -> None:
        try:
            length = _LENGTH.pack(len(payload))
            if descriptor is None:
                self._socket.sendall(length + payload)
            else:
                socket.send_fds(self._socket, [length], [descriptor])
                self._socket.sendall(payload)
        except OSError as error:
            raise ServerDied(f"the compile server does not take an order: {error.strerror}") from error

    def _wait(self, messages: "_Messages", wall_seconds: float, cancellation: Cancellation | None) -> ProcessOutcome:
        deadline = time.monotonic() + wall_seconds
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        poll.register(messages.descriptor, select.POLLIN)
        if cancellation is not None:
            poll.register(cancellation.fileno(), select.POLLIN)
        while True:
            left = deadline - time.monotonic()
            ready = {descriptor for descriptor, _ in poll.poll(left * 1000)} if left > 0 else set()
            cancelled = cancellation is not None and cancellation.fileno() in ready
            if cancelled or left <= 0:
                self._order(_KILL)
                outcome = self._ended(messages, hung=not cancelled)
                if cancelled:
                    raise Cancelled()
                return outcome
            if messages.descriptor in ready and not messages.read():
                poll.unregister(messages.descriptor)
            if self._socket.fileno() in ready:
                return self._ended(messages, hung=False)

    def _ended(self, messages: "_Messages", hung: bool) -> ProcessOutcome:
        answer = b""
        self._socket.settimeout(_GOODBYE_SECONDS)
        try:
            while len(answer) < _ANSWER.size:
                part = self._socket.recv(_ANSWER.size - len(answer))
                if not part:
                    raise ServerDied("the compile server has ended")
                answer += part
        except OSError as error:
            raise ServerDied(f"the compile server does not answer: {error}") from error
        finally:
            self._socket.settimeout(None)
        event, status, cpu_microseconds, _ = _ANSWER.unpack(answer)
        if event != _ENDED:
            raise ServerDied(f"the compile server answers {event}, which means nothing")
        return ProcessOutcome(os.waitstatus_to_exitcode(status), messages.rest(), hung, cpu_microseconds / 1e6)


def _description(command_line: Sequence[str], directory: str, limits: CompileLimits) -> bytes:
    numbers = _LIMITS.pack(limits.cpu_seconds, limits.address_space_bytes, limits.log_bytes)
    return numbers + b"".join(os.fsencode(text) + b"\0" for text in (directory, *command_line))


class _Messages:
    """What the compiler writes to stderr, the middle left out when it is long."""

    def __init__(self, descriptor: int):
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self._text = BoundedText()

    def read(self) -> bool:
        """Takes what is there; False at the end of the stream."""
        return self._text.read_from(self.descriptor)

    def rest(self) -> str:
        """All of it, with what is still in the pipe; a grandchild that holds it open is not waited for."""
        while self._text.read_from(self.descriptor, only_available=True):
            pass
        return self._text.text()

    def close(self) -> None:
        os.close(self.descriptor)


def beside(clang: str | os.PathLike[str]) -> pathlib.Path | None:
    """The compile server that was built together with `clang`, or None when there is none beside it."""
    given = pathlib.Path(clang)
    for compiler in (given, given.resolve()):
        candidate = compiler.parent / "compile_server"
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    return None
