"""One process inside limits and walls: started, watched, and ended together with every process it left in its group.

The walls are built by //development/confinement; `missing_protections` says which of them this machine lacks.
"""

import dataclasses
import enum
import errno
import functools
import os
import select
import signal
import subprocess
import weakref
from collections.abc import Mapping, Sequence

from mlgo.compiler.hang import HangGuard
from mlgo.run import locate

_LIMITED_EXEC = "mlgo/compiler/limited_exec"

# Versions of Landlock's interface (development/confinement/landlock.h).
_PROTECTS_FROM_TRUNCATION, _PROTECTS_FROM_SIGNALS = 3, 6


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
    command = [limited_exec(), "--describe", os.fspath(compiler)]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def missing_in(described: str, compiler: str) -> str | None:
    """See `missing_protections`.

    Args: described: output of `limited_exec --describe`.
    """
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
_STDERR_HEAD_BYTES = 16 * 1024
_STDERR_TAIL_BYTES = 16 * 1024

# Of tools that read what compiles made, which were limited themselves: only against a runaway.
_TOOL_ADDRESS_SPACE_BYTES = 256 * 1024**3
_TOOL_FILE_BYTES = 64 * 1024**3


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
        # poll, unlike select, takes descriptors of any number.
        poll = select.poll()
        poll.register(self._event, select.POLLIN)
        return bool(poll.poll(0))


@dataclasses.dataclass(frozen=True)
class ProcessOutcome:
    """How a process ended.

    Attributes:
      exit_code: its exit code, or minus the number of the signal that ended it.
      stderr: what it wrote there, the middle left out when it was long.
      hung: it was killed because it waited for ever (mlgo/compiler/hang.py).
      cpu_seconds: user + system time of it and of its children that it waited for.
    """

    exit_code: int
    stderr: str
    hung: bool
    cpu_seconds: float


class LimitedProcess:
    """A process that runs inside limits; at the end of the `with` block it, and what it left in its group, is dead.

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
        limits = [walls, str(os.getpid()), str(cpu_seconds), str(address_space_bytes), str(file_bytes)]
        # A new session makes a process group of its own and takes away the terminal, whose Ctrl-C is ours to handle.
        self._process = subprocess.Popen(  # pylint: disable=consider-using-with
            [limited_exec(), *limits, *command],
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
        self._reaped = False
        self._pidfd = -1
        try:
            self._pidfd = os.pidfd_open(self._process.pid)
            os.set_blocking(self.stderr_descriptor, False)
        except BaseException:
            self.close()
            raise

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def end_descriptor(self) -> int:
        """Becomes readable when the process has ended."""
        return self._pidfd

    @property
    def stderr_descriptor(self) -> int:
        """Readable when the process has written a message: call `read_stderr`, or it will wait for room one day."""
        return self._pipe.fileno()

    def read_stderr(self) -> bool:
        """Takes what the process has written to stderr; False at the end of the stream."""
        return self._stderr.read_from(self.stderr_descriptor)

    def finish(self, hung: bool = False) -> ProcessOutcome:
        """How it ended; kills it if it has not. Once only."""
        # Before the process is reaped: until then its number, which is the group's, cannot be given to another.
        _kill_group(self._process.pid)
        status, cpu = _reap(self._process)
        self._reaped = True
        # What is still in the pipe; a grandchild that holds it open is not waited for.
        while self._stderr.read_from(self.stderr_descriptor, only_available=True):
            pass
        return ProcessOutcome(os.waitstatus_to_exitcode(status), self._stderr.text(), hung, cpu)

    def close(self) -> None:
        if not self._reaped:
            _kill_group(self._process.pid)
            _reap(self._process)
            self._reaped = True
        self._pipe.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1

    def __enter__(self) -> "LimitedProcess":
        return self

    def __exit__(self, *_) -> None:
        self.close()


def wait_for_end(
    process: LimitedProcess, wall_seconds: float, cancellation: Cancellation | None = None
) -> ProcessOutcome:
    """Waits until the process ends, or kills it when it did nothing for `wall_seconds`.

    Raises: Cancelled: `cancellation` was triggered; the process is left to its `with` block.
    """
    guard = HangGuard(process.process_id, wall_seconds)
    poll = select.poll()
    poll.register(process.end_descriptor, select.POLLIN)
    poll.register(process.stderr_descriptor, select.POLLIN)
    if cancellation is not None:
        poll.register(cancellation.fileno(), select.POLLIN)
    while True:
        if guard.is_hung():
            return process.finish(hung=True)
        ready = {descriptor for descriptor, _ in poll.poll(max(0.0, guard.seconds_left()) * 1000)}
        if cancellation is not None and cancellation.fileno() in ready:
            raise Cancelled()
        if process.stderr_descriptor in ready and not process.read_stderr():
            poll.unregister(process.stderr_descriptor)
        if process.end_descriptor in ready:
            return process.finish()


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
    Raises: OSError: it cannot be started. subprocess.TimeoutExpired: it reached one of its limits.
    """
    program = os.path.abspath(command[0])
    limits = [walls, str(os.getpid()), str(seconds), str(_TOOL_ADDRESS_SPACE_BYTES), str(_TOOL_FILE_BYTES)]
    line = [limited_exec(), *limits, program, *command[1:]]
    pipe = subprocess.PIPE
    with subprocess.Popen(line, cwd=directory, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        guard = HangGuard(process.pid, seconds)
        try:
            while True:
                try:
                    said, errors = process.communicate(given, max(0.0, guard.seconds_left()))
                    break
                except subprocess.TimeoutExpired:
                    # The load of the machine must not decide: only what hangs is late.
                    if guard.is_hung():
                        raise
        except BaseException:
            process.kill()
            raise
    if process.returncode == -signal.SIGXCPU:
        raise subprocess.TimeoutExpired(line, seconds)
    if process.returncode == CANNOT_START:
        raise OSError(errno.ENOEXEC, errors.decode("utf-8", "replace").strip())
    return subprocess.CompletedProcess(line, process.returncode, said, errors)


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # nothing but the ended leader is left


def _reap(process) -> tuple[int, float]:
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)  # so that Popen does not wait for it again
    return status, usage.ru_utime + usage.ru_stime


class BoundedText:
    """The beginning and the end of a stream."""

    def __init__(self):
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0
        self._drained = 0

    def read_from(self, descriptor: int, only_available: bool = False) -> bool:
        """Reads once; False at the end of the stream, or when `only_available` and nothing (or too much) is there."""
        try:
            data = os.read(descriptor, 65536)
        except BlockingIOError:
            return not only_available
        if only_available:
            # A grandchild may write faster than this reads; a pipe holds 64 KB by default, so this is enough.
            self._drained += len(data)
            if self._drained > 1 << 20:
                return False
        room = _STDERR_HEAD_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > _STDERR_TAIL_BYTES:
            self._dropped += len(self._tail) - _STDERR_TAIL_BYTES
            del self._tail[:-_STDERR_TAIL_BYTES]
        return bool(data)

    def text(self) -> str:
        middle = f"\n[... {self._dropped} bytes left out ...]\n".encode() if self._dropped else b""
        return bytes(self._head + middle + self._tail).decode("utf-8", "replace")
