"""Builds what Ninja can build within a time limit; shows progress and measures memory meanwhile."""

import contextlib
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import time

from mlgo.corpus.gn import gn_build
from mlgo.corpus.gn.project import Configured
from mlgo.run import progress

#: Seconds between two looks at a running Ninja. A compile takes most of its memory shortly before its end.
_INTERVAL_SECONDS = 0.25
_STEP = re.compile(rb"^\[(\d+)/(\d+)\] ", re.MULTILINE)
_HIGH_WATER = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


@dataclasses.dataclass
class Memory:
    """Attributes:
    ninja_bytes: largest resident memory of Ninja itself.
    command_bytes: of the largest process that it started; one that ended between two looks may have had more.
    """

    ninja_bytes: int = 0
    command_bytes: int = 0


@dataclasses.dataclass(frozen=True)
class Attempt:
    """What Ninja did.

    Attributes:
      log: its output, which is also in the log beside the build.
      is_complete: it ended by itself.
      memory: that it took.
    """

    log: str
    is_complete: bool
    memory: Memory


def attempt(configured: Configured, target: str, ninja_file: str, jobs: int, seconds: float, stage: str) -> Attempt:
    """Builds what can be built of `target` within `seconds`; failed steps do not end it.

    Args: ninja_file: in the build folder, knows the target. jobs: commands at a time. stage: its name in progress.
    Raises: RunError: ninja does not run.
    """
    ninja, layout = configured.tools.ninja, configured.layout
    command = [str(ninja), "-C", str(layout.build), "-f", ninja_file, "-k", "0", "-j", str(jobs), target]
    log = layout.work / gn_build.NINJA_LOG
    with open(log, "wb") as file:
        try:
            process = subprocess.Popen(
                command,
                env=dict(configured.environment),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            raise gn_build.cannot_start(ninja, error) from error
    try:
        with contextlib.closing(_Watch(stage, process.pid, log)) as watch:
            is_complete = _wait(process, seconds, watch)
    finally:
        if process.poll() is None:
            # Ninja then ends its steps and removes what they have begun to write.
            process.send_signal(signal.SIGINT)
            process.wait()
    return Attempt(log.read_text(encoding="utf-8", errors="replace"), is_complete, watch.memory)


def _wait(process: subprocess.Popen, seconds: float, watch: "_Watch") -> bool:
    """Whether `process` ended within `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_INTERVAL_SECONDS)
            watch.look()
            return True
        watch.look()
    return False


class _Watch:
    """Looks at a running Ninja.

    Attributes:
      memory: what it has taken until now; zeros where the machine has no /proc.
    """

    def __init__(self, stage: str, process_id: int, log: pathlib.Path):
        """Args: log: Ninja's output, which grows. stage: its name in lines of progress."""
        self.memory = Memory()
        self._stage, self._process_id = stage, process_id
        self._ninja = _program(process_id)
        self._log = open(log, "rb")
        self._unfinished_line = b""
        self._done = 0
        self._progress: progress.Progress = progress.Silent()

    def look(self) -> None:
        """Shows how far Ninja is, and measures."""
        whole, _, self._unfinished_line = (self._unfinished_line + self._log.read()).rpartition(b"\n")
        steps = _STEP.findall(whole)
        if steps:
            done, total = map(int, steps[-1])
            if not self._done:
                self._progress = progress.start(self._stage, total, "steps")
            self._progress.advance(max(done - self._done, 0))
            self._done = max(done, self._done)
        # A process that Ninja has just begun shares its memory until it starts its program.
        started = [process for process in _descendants(self._process_id) if _program(process) != self._ninja]
        largest = max(map(_high_water, started), default=0)
        self.memory.command_bytes = max(self.memory.command_bytes, largest)
        self.memory.ninja_bytes = max(self.memory.ninja_bytes, _high_water(self._process_id))

    def close(self) -> None:
        """Ends the report."""
        self._progress.close()
        self._log.close()


def _high_water(process_id: int) -> int:
    """Largest resident memory of a process, bytes; 0: it has ended."""
    with contextlib.suppress(OSError):
        found = _HIGH_WATER.search(pathlib.Path(f"/proc/{process_id}/status").read_text("ascii", "replace"))
        return int(found[1]) * 1024 if found else 0
    return 0


def _program(process_id: int) -> str:
    """The program that a process runs; "": it has ended."""
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{process_id}/exe")
    return ""


def _descendants(process_id: int) -> list[int]:
    """All processes that a process started, and those that they started."""
    children: list[int] = []
    with contextlib.suppress(OSError):
        for path in pathlib.Path(f"/proc/{process_id}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                children += map(int, path.read_text("ascii").split())
    return [found for child in children for found in (child, *_descendants(child))]
