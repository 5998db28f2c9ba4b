"""Runs a program to its end: what it said, and the CPU time and memory that it took."""

import dataclasses
import os
import pathlib
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence

_ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/nonexistent"}


@dataclasses.dataclass(frozen=True)
class Ended:
    """A program that has ended.

    Attributes:
      exit_code: or minus the number of the signal that ended it.
      output: its standard output.
      messages: its standard error, as text.
      wall_seconds: from start to end.
      user_seconds, system_seconds: CPU time.
      memory_mb: its largest resident size in MB (1024 * 1024 bytes).
    """

    exit_code: int
    output: bytes
    messages: str
    wall_seconds: float
    user_seconds: float
    system_seconds: float
    memory_mb: float

    def last_words(self) -> str:
        """The end of what it said, for an error message."""
        return " ".join((self.messages or self.output.decode("utf-8", "replace"))[-600:].split()) or "nothing"


class NotRun(Exception):
    """A program could not be started, or did not end in time."""


def run(
    command: Sequence[str | os.PathLike[str]],
    directory: pathlib.Path,
    seconds: float,
    stdin: pathlib.Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Runs `command` in `directory`, with nothing of this process's environment: it must not decide what comes out.

    Args:
      seconds: wall-clock guard.
      stdin: what it reads; empty by default.
      environment: variables besides the locale, C, and the time zone, UTC.

    Raises: NotRun: it cannot be started, or was killed after `seconds`.
    """
    said: dict[str, bytes] = {}
    with open(stdin or os.devnull, "rb") as given:
        begin = time.monotonic()
        try:
            process = subprocess.Popen(
                [os.fspath(word) for word in command],
                cwd=directory,
                env={**_ENVIRONMENT, **(environment or {})},
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise NotRun(f"{command[0]} does not run: {error.strerror or error}") from error
        readers = [
            threading.Thread(target=lambda name=name, stream=stream: said.__setitem__(name, stream.read()))
            for name, stream in (("output", process.stdout), ("messages", process.stderr))
        ]
        late = threading.Event()
        guard = threading.Timer(seconds, lambda: (late.set(), os.kill(process.pid, 9)))
        try:
            for thread in (*readers, guard):
                thread.start()
            for thread in readers:
                thread.join()
            _, status, used = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            guard.cancel()
            process.stdout.close()
            process.stderr.close()
        process.returncode = os.waitstatus_to_exitcode(status)
    if late.is_set():
        raise NotRun(f"{command[0]} had not ended after {seconds:.0f} seconds")
    return Ended(
        exit_code=process.returncode,
        output=said["output"],
        messages=said["messages"].decode("utf-8", "replace"),
        wall_seconds=time.monotonic() - begin,
        user_seconds=used.ru_utime,
        system_seconds=used.ru_stime,
        memory_mb=used.ru_maxrss / 1024.0,
    )
