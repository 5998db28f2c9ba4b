"""Runs a program and returns its output, CPU time and peak memory."""

import concurrent.futures
import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from mlgo.run import progress, signals

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class _Group:
    """What one call of `in_parallel` runs, and what its items, whose group `parent` is, run in parallel themselves."""

    def __init__(self, parent: "_Group | None"):
        self.parent = parent
        self._is_stopped = False

    def stop(self) -> None:
        """Kills what runs, and lets nothing new start."""
        self._is_stopped = True
        with _running_lock:
            for process, group in _running.items():
                if group is not None and group.is_stopped():
                    # Popen.kill may take the exit code, for which `run` waits.
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process.pid, signal.SIGKILL)

    def is_stopped(self) -> bool:
        return self._is_stopped or (self.parent is not None and self.parent.is_stopped())


class _Thread(threading.local):
    group: _Group | None = None  #: whose item this thread works on.


_thread = _Thread()
#: What runs in all threads, with its lock.
_running: dict[subprocess.Popen[bytes], _Group | None] = {}
_running_lock = threading.Lock()
_ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/nonexistent"}


@dataclasses.dataclass(frozen=True)
class Ended:
    """The result of a program."""

    exit_code: int  #: minus the number of the signal that ended it, if one did.
    output: bytes
    messages: str  #: its standard error.
    wall_seconds: float
    user_seconds: float  #: CPU time.
    system_seconds: float
    memory_mb: float  #: peak resident size in MB (1024 * 1024 bytes).

    def last_words(self) -> str:
        """The end of its output, for error messages."""
        return " ".join((self.messages or self.output.decode("utf-8", "replace"))[-600:].split()) or "no output"


class NotRun(Exception):
    """A program could not be started, or did not end in time."""


class Stopped(Exception):
    """Nothing is started any more, because other work of the same call of `in_parallel` has failed."""


def run(
    command: Sequence[str | os.PathLike[str]],
    directory: pathlib.Path,
    seconds: float,
    stdin: pathlib.Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Runs `command` in `directory` without this process's environment, which could change its output.

    Args: seconds: wall-clock limit; environment: variables besides the locale, C, and the time zone, UTC.

    Raises:
      NotRun: it cannot be started, or was killed after `seconds`.
      KilledFromOutside: another process ended it, or `in_parallel` did.
      Stopped: this thread's work was stopped before.
    """
    group = _thread.group
    if group is not None and group.is_stopped():
        raise Stopped
    words, variables = [os.fspath(word) for word in command], {**_ENVIRONMENT, **(environment or {})}
    temporary = tempfile.TemporaryFile
    with open(stdin or os.devnull, "rb") as given, temporary() as output, temporary() as errors:
        begin = time.monotonic()
        try:
            process = subprocess.Popen(words, cwd=directory, env=variables, stdin=given, stdout=output, stderr=errors)
        except OSError as error:
            raise NotRun(f"{command[0]} does not run: {error.strerror or error}") from error
        with _running_lock:
            _running[process] = group
        if group is not None and group.is_stopped():
            process.kill()
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        guard = threading.Timer(seconds, end)
        guard.start()
        try:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            guard.cancel()
            with _running_lock:
                del _running[process]
        wall_seconds = time.monotonic() - begin
        output.seek(0)
        errors.seek(0)
        said, messages = output.read(), errors.read().decode("utf-8", "replace")
    if late.is_set():
        raise NotRun(f"{command[0]} had not ended after {seconds:.0f} seconds")
    signals.check_not_killed(command[0], process.returncode)
    cost = wall_seconds, used.ru_utime, used.ru_stime, used.ru_maxrss / 1024.0
    return Ended(process.returncode, said, messages, *cost)


def in_parallel(
    workers: int, work: Callable[[_Item], _Result], items: Sequence[_Item], bar: progress.Progress | None = None
) -> list[_Result]:
    """What `work` returns for each of `items`, in their order; it may call `in_parallel` itself.

    Raises: what it raises, for the first of the items that fail; the rest is stopped then.
    """
    bar = bar or progress.Silent()
    group = _Group(_thread.group)

    def in_group(item: _Item) -> _Result:
        _thread.group = group  # The threads of the pool have no other work.
        return work(item)

    def result_of(future: concurrent.futures.Future[_Result]) -> _Result:
        result = future.result()
        bar.advance()
        return result

    with concurrent.futures.ThreadPoolExecutor(max_workers=workers) as pool:
        futures = [pool.submit(in_group, item) for item in items]
        try:
            return list(map(result_of, futures))
        except BaseException:
            for future in futures:
                future.cancel()
            # One compile may take minutes, and the pool waits for it.
            group.stop()
            raise
