"""One process inside limits and walls: started, watched, and ended together with every process it left in its group.

The walls are built by //development/confinement; `missing_protections` says which of them this machine lacks.
"""

import contextlib
import dataclasses
import enum
import errno
import functools
import os
import select
import signal
import subprocess
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from mlgo.compiler.hang import HangGuard
from mlgo.run import locate

_LIMITED_EXEC = "mlgo/compiler/limited_exec"

# Versions of Landlock's interface (development/confinement/landlock.h).
_PROTECTS_FROM_TRUNCATION, _PROTECTS_FROM_SIGNALS = 3, 6


class _HasFileno(Protocol):
    def fileno(self) -> int: ...


class Confinement(enum.StrEnum):
    """The walls that are built, of those that the kernel has. Less than all of them is for tests and measurements."""

    ALL = "all"
    NONE = "none"
    LANDLOCK = "landlock"
    FILTER = "filter"


@functools.cache
def limited_exec() -> str:
    """The program that becomes a compiler inside limits and walls."""
    return str(locate.runfile(_LIMITED_EXEC))


def missing_protections(compiler: str | os.PathLike[str]) -> str | None:
    """What a foreign module could still do here if it took over `compiler`, as one line; None: nothing known."""
    return missing_in(described(compiler), os.fspath(compiler))


def described(compiler: str | os.PathLike[str]) -> str:
    """Output of `limited_exec --describe`."""
    return subprocess.check_output([limited_exec(), "--describe", compiler], text=True)


def missing_in(described: str, compiler: str) -> str | None:
    """See `missing_protections`. Args: described: output of `limited_exec --describe`."""
    found = {name: int(value) for name, value in (line.split() for line in described.splitlines())}
    version = found["landlock"]
    missing = []
    if not version:
        missing.append("no Landlock, so compiles can write outside their temporary directories")
    elif version < _PROTECTS_FROM_TRUNCATION:
        missing.append(f"Landlock {version}, so compiles can truncate files outside their temporary directories")
    elif version < _PROTECTS_FROM_SIGNALS:
        missing.append(f"Landlock {version}, so compiles can send signals to your other processes")
    if not found["filter"]:
        missing.append("no seccomp filters, so compiles can use the network")
    if not found["native"]:
        missing.append(f"{compiler} is no ELF program, so compiles can start programs")
    elif not found["filter"] and not version:
        missing.append("compiles can start programs")
    return f"compiles are confined in part only: {'; '.join(missing)}" if missing else None


#: Exit code of limited_exec when the program could not be started.
CANNOT_START = 127

# The first and the last error messages are what helps; a compiler that prints for ever must not fill the memory.
_STDERR_HEAD_BYTES = _STDERR_TAIL_BYTES = 16 * 1024
_READ_BYTES, _MOST_LEFT_BYTES = 1 << 16, 1 << 20

# Of tools that read what compiles made, which were limited themselves: only against a runaway.
_TOOL_ADDRESS_SPACE_BYTES = 256 * 1024**3
_TOOL_FILE_BYTES = 64 * 1024**3
# Modules as text have 200 MB at most. Constants share their parts, so that 2 KB of bitcode stand for any size.
_MOST_OUTPUT_BYTES = 1024**3


class Cancelled(Exception):
    """The process was killed because its `Cancellation` was triggered."""


class Cancellation:
    """Lets one thread end the processes that others wait for. Usable once, by as many threads as hold it."""

    def __init__(self):
        self._event = os.eventfd(0, os.EFD_CLOEXEC)
        # Closed with the last reference, never earlier: a thread that comes late must still find it triggered.
        weakref.finalize(self, os.close, self._event)

    def trigger(self) -> None:
        os.eventfd_write(self._event, 1)

    def fileno(self) -> int:
        """Becomes readable, and stays so, once triggered."""
        return self._event

    def is_triggered(self) -> bool:
        return bool(polling(self).poll(0))


def polling(*files: int | _HasFileno | None) -> select.poll:
    """Waits until one of `files` is readable; None is no file. Unlike select, it takes descriptors of any number."""
    poll = select.poll()
    for file in files:
        if file is not None:
            poll.register(file, select.POLLIN)
    return poll


@dataclasses.dataclass(frozen=True)
class ProcessOutcome:
    """How a process ended."""

    exit_code: int  #: its exit code, or minus the number of the signal that ended it.
    stderr: str  #: what it wrote there, the middle left out when it was long.
    hung: bool  #: it was killed because it waited for ever (mlgo/compiler/hang.py).
    cpu_seconds: float  #: user + system time of it and of its children that it waited for.


class LimitedProcess:
    """A process inside limits; at the end of the `with` block it, and what it left in its group, is dead.

    It dies too when the thread that started it ends, so that thread is the one to use it.
    """

    def __init__(
        self,
        command: Sequence[str],
        directory: str,
        environment: Mapping[str, str],
        cpu_seconds: int,
        address_space_bytes: int,
        file_bytes: int,
        walls: Confinement = Confinement.ALL,
    ):
        """Starts `command` in `directory`, to which it is confined: see //development/confinement.

        Args:
          command: an absolute path of a program, and its arguments.
          cpu_seconds: limit for the process; SIGXCPU ends it.
          address_space_bytes: limit for each process; allocations fail above it.
          file_bytes: limit for each file it writes; SIGXFSZ ends it.
          walls: less than all of them is for tests and measurements.
        """
        # A new session makes a process group of its own and takes away the terminal, whose Ctrl-C is ours to handle.
        self._process = subprocess.Popen(  # pylint: disable=consider-using-with
            _limited(command, walls, cpu_seconds, address_space_bytes, file_bytes),
            cwd=directory,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stderr is not None
        self._pipe = self._process.stderr
        self._stderr = BoundedText()
        #: Becomes readable when the process has ended.
        self.end_descriptor = -1
        try:
            self.end_descriptor = os.pidfd_open(self._process.pid)
            os.set_blocking(self.stderr_descriptor, False)
        except BaseException:
            self.close()
            raise

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def stderr_descriptor(self) -> int:
        """Readable when the process has written a message: call `read_stderr`, or it will wait for room one day."""
        return self._pipe.fileno()

    def read_stderr(self) -> bool:
        """Takes what the process has written to stderr; False at the end of the stream."""
        return self._stderr.read_from(self.stderr_descriptor)

    def finish(self, hung: bool = False) -> ProcessOutcome:
        """How it ended; kills it if it has not. Once only."""
        status, cpu_seconds = self._reap()
        said = self._stderr.rest_from(self.stderr_descriptor)
        return ProcessOutcome(os.waitstatus_to_exitcode(status), said, hung, cpu_seconds)

    def _reap(self) -> tuple[int, float]:
        # Before it is waited for: until then its number, which is the group's, cannot be given to another.
        with contextlib.suppress(ProcessLookupError, PermissionError):  # Nothing but the ended leader is left.
            os.killpg(self._process.pid, signal.SIGKILL)
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)  # So that Popen does not wait for it again.
        return status, usage.ru_utime + usage.ru_stime

    def close(self) -> None:
        if self._process.returncode is None:
            self._reap()
        self._pipe.close()
        if self.end_descriptor >= 0:
            os.close(self.end_descriptor)
            self.end_descriptor = -1

    def __enter__(self) -> "LimitedProcess":
        return self

    def __exit__(self, *_) -> None:
        self.close()


def _limited(
    command: Iterable[str | os.PathLike[str]], walls: Confinement, cpu_seconds: int, memory_bytes: int, file_bytes: int
) -> list[str | os.PathLike[str]]:
    limits = map(str, (os.getpid(), cpu_seconds, memory_bytes, file_bytes))
    return [limited_exec(), walls, *limits, *command]


def wait_for_end(
    process: LimitedProcess, wall_seconds: float, cancellation: Cancellation | None = None
) -> ProcessOutcome:
    """Waits until the process ends, or kills it when it did nothing for `wall_seconds`. Raises: Cancelled."""
    guard = HangGuard(process.process_id, wall_seconds)
    poll = polling(process.end_descriptor, process.stderr_descriptor, cancellation)
    while (ready := guard.ready(poll)) is not None:
        if cancellation is not None and cancellation.fileno() in ready:
            raise Cancelled()
        if process.stderr_descriptor in ready and not process.read_stderr():
            poll.unregister(process.stderr_descriptor)
        if process.end_descriptor in ready:
            return process.finish()
    return process.finish(hung=True)


def run_confined(
    command: Sequence[str | os.PathLike[str]],
    directory: str | os.PathLike[str],
    seconds: int,
    given: bytes = b"",
    walls: Confinement = Confinement.ALL,
) -> subprocess.CompletedProcess[bytes]:
    """Runs a tool that reads foreign files: it may read and compute, and write in `directory` only.

    Args:
      command: a program and its arguments; files are absolute paths or relative to `directory`.
      seconds: CPU seconds; it is killed too when it does nothing for as long (mlgo/compiler/hang.py).
      walls: a tool that copies permissions (llvm-objcopy) works behind LANDLOCK only.

    Returns: exit code, and what it wrote to stdout and stderr.
    Raises: OSError: it cannot be started. subprocess.TimeoutExpired: it reached one of its limits, also of output.
    """
    words = [os.path.abspath(command[0]), *command[1:]]
    line = _limited(words, walls, seconds, _TOOL_ADDRESS_SPACE_BYTES, _TOOL_FILE_BYTES)
    pipe = subprocess.PIPE
    with tempfile.TemporaryFile() as source:
        source.write(given)
        source.seek(0)
        with subprocess.Popen(line, cwd=directory, stdin=source, stdout=pipe, stderr=pipe) as process:
            try:
                said, errors = _outputs(process, seconds)
            except BaseException:
                process.kill()
                raise
    if process.returncode == -signal.SIGXCPU:
        raise subprocess.TimeoutExpired(line, seconds)
    if process.returncode == CANNOT_START:
        raise OSError(errno.ENOEXEC, errors.decode("utf-8", "replace").strip())
    return subprocess.CompletedProcess(line, process.returncode, said, errors)


class _TooMuchOutput(subprocess.TimeoutExpired):
    def __str__(self) -> str:
        return f"it writes more than {_MOST_OUTPUT_BYTES:,} bytes"


def _outputs(process: subprocess.Popen[bytes], seconds: int) -> tuple[bytes, bytes]:
    """What a process writes until its end. Raises: subprocess.TimeoutExpired: as `run_confined`."""
    assert process.stdout is not None and process.stderr is not None
    said = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    poll = polling(*said)
    left = set(said)
    guard = HangGuard(process.pid, seconds)
    # The load of the machine must not decide: only what hangs is late.
    while left:
        if (ready := guard.ready(poll)) is None:
            raise subprocess.TimeoutExpired(process.args, seconds)
        for descriptor in ready:
            if piece := os.read(descriptor, _READ_BYTES):
                said[descriptor] += piece
            else:
                poll.unregister(descriptor)
                left.discard(descriptor)
        if sum(map(len, said.values())) > _MOST_OUTPUT_BYTES:
            raise _TooMuchOutput(process.args, seconds)
    while process.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, guard.seconds_left()))
        if process.returncode is None and guard.is_hung():
            raise subprocess.TimeoutExpired(process.args, seconds)
    out, errors = said.values()
    return bytes(out), bytes(errors)


class BoundedText:
    """The beginning and the end of a stream."""

    def __init__(self):
        self._head, self._tail, self._dropped = bytearray(), bytearray(), 0

    def read_from(self, descriptor: int) -> bool:
        """Reads once; False at the end of the stream."""
        try:
            return self._add(os.read(descriptor, _READ_BYTES))
        except BlockingIOError:
            return True

    def rest_from(self, descriptor: int) -> str:
        """All of it, with what is still in a pipe. A grandchild that holds it open is not waited for."""
        with contextlib.suppress(BlockingIOError):
            # It may write faster than this reads. A pipe holds 64 KB by default, 1 MB at most (pipe(7)).
            for _ in range(_MOST_LEFT_BYTES // _READ_BYTES):
                if not self._add(os.read(descriptor, _READ_BYTES)):
                    break
        return self.text()

    def _add(self, data: bytes) -> bool:
        room = _STDERR_HEAD_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        self._dropped += max(0, len(self._tail) - _STDERR_TAIL_BYTES)
        del self._tail[:-_STDERR_TAIL_BYTES]
        return bool(data)

    def text(self) -> str:
        middle = f"\n[... {self._dropped} bytes left out ...]\n".encode() if self._dropped else b""
        return bytes(self._head + middle + self._tail).decode("utf-8", "replace")
