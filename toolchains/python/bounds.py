"""Runs a program that downloads, and ends it when it fills the disk or receives next to nothing.

pip knows no size of an archive in advance, and its time-out counts from the last byte, so an index that sends for ever,
or a byte now and then, would never end.
"""

import collections
import contextlib
import dataclasses
import os
import pathlib
import resource
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence

# The largest pinned wheel has less than 1 GB.
LARGEST_FILE_BYTES = 2 * 10**9


class StalledError(Exception):
    """The program received next to nothing for too long; the message says for how long."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """When a program is ended.

    Attributes:
        window_seconds: time over which progress is measured; longer than a time-out that a user gives to pip.
        least_bytes: bytes that have to arrive in that time; 2,000 a second.
        least_cpu_seconds: a program that used so much of the processor in that time works, whatever arrives.
        look_seconds: time between two looks.
        largest_file_bytes: size of the largest file that it may write.
    """

    window_seconds: float = 300
    least_bytes: int = 600_000
    least_cpu_seconds: float = 3
    look_seconds: float = 1
    largest_file_bytes: int = LARGEST_FILE_BYTES


class Progress:
    """What a program did over the last window."""

    def __init__(self, limits: Limits):
        self._limits = limits
        self._samples: collections.deque[tuple[float, int, float]] = collections.deque()

    def stalled(self, now: float, written: int, cpu_seconds: float) -> bool:
        """Notes the state of the program.

        Args:
            now: seconds, increasing.
            written: bytes in its folder.
            cpu_seconds: of the processor that it used since its start.
        """
        self._samples.append((now, written, cpu_seconds))
        while len(self._samples) > 1 and self._samples[1][0] <= now - self._limits.window_seconds:
            self._samples.popleft()
        since, before, used = self._samples[0]
        return (
            now - since >= self._limits.window_seconds
            # Files that it removed are progress too.
            and abs(written - before) < self._limits.least_bytes
            and cpu_seconds - used < self._limits.least_cpu_seconds
        )


def limit_files(largest_bytes: int) -> None:
    """Lets this process and its children write no larger file; a larger one is the error EFBIG, "File too large"."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    soft = largest_bytes if hard == resource.RLIM_INFINITY else min(largest_bytes, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def run(
    command: Sequence[str], environment: Mapping[str, str], limits: Limits | None = None
) -> subprocess.CompletedProcess:
    """Runs `command` with a temporary folder of its own and returns its exit code, standard output and error.

    Raises:
        StalledError: it received next to nothing; it is ended.
    """
    limits = limits or Limits()
    with tempfile.TemporaryDirectory() as scratch:
        process = subprocess.Popen(
            command,
            env={**environment, "TMPDIR": scratch},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: limit_files(limits.largest_file_bytes),
        )
        progress = Progress(limits)
        while True:
            try:
                stdout, stderr = process.communicate(timeout=limits.look_seconds)
                return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)
            except subprocess.TimeoutExpired:
                pass
            except BaseException:
                process.kill()
                raise
            if progress.stalled(time.monotonic(), _bytes_below(scratch), _cpu_seconds(process.pid)):
                process.kill()
                process.communicate()
                raise StalledError(f"less than {limits.least_bytes / 1000:g} kB arrived in {limits.window_seconds:g} s")


def _bytes_below(folder: str) -> int:
    total = 0
    # The program removes files and folders meanwhile; os.walk skips a folder that is gone.
    for directory, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(directory, name)).st_size
    return total


def _cpu_seconds(process: int) -> float:
    """Of the processor that the process used, its ended children included; 0 when it ended."""
    try:
        # utime, stime, cutime and cstime are fields 14 to 17 (proc(5)); the name in parentheses may hold spaces.
        fields = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
        return sum(map(int, fields.split()[11:15])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0
