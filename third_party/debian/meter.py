"""Prints the progress of downloads: a line at most every PROGRESS_SECONDS, or one line rewritten on a terminal."""

import sys
import threading
import time
from typing import Callable

PROGRESS_SECONDS = 10
TERMINAL_SECONDS = 0.2

Progress = Callable[[str], None]


def to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


class Meter:
    """Counts what arrives.

    Args:
        total_files: archives to download.
        total_bytes: their size together.
        progress: receives each line.
        clock: seconds, increasing.
    """

    def __init__(self, total_files: int, total_bytes: int, progress: Progress, clock=time.monotonic):
        self._total = (total_files, total_bytes)
        self._files = self._bytes = 0
        self._progress, self._clock = progress, clock
        self._terminal = progress is to_stderr and sys.stderr.isatty()
        self._start = self._last = clock()
        self._lock = threading.Lock()

    def add(self, count: int, files: int = 0) -> None:
        """Adds bytes and whole archives. Bytes of an abandoned download are subtracted again."""
        with self._lock:
            self._bytes += count
            self._files += files
            now = self._clock()
            if now - self._last >= (TERMINAL_SECONDS if self._terminal else PROGRESS_SECONDS):
                self._last = now
                self._report(now)

    def note(self, line: str) -> None:
        """Prints a line that is no progress."""
        with self._lock:
            self._clear()
            self._progress(f"debian: {line}")

    def close(self) -> None:
        self._clear()

    def _clear(self) -> None:
        if self._terminal:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def _report(self, now: float) -> None:
        rate = self._bytes / max(now - self._start, 1e-3)
        left = max(self._total[1] - self._bytes, 0) / max(rate, 1)
        text = (
            f"debian: {self._files} of {self._total[0]} archives, {self._bytes / 1e6:.0f} of "
            f"{self._total[1] / 1e6:.0f} MB, {rate / 1e6:.1f} MB/s, {left:.0f} s left"
        )
        if self._terminal:
            sys.stderr.write("\r\033[K" + text)
            sys.stderr.flush()
        else:
            self._progress(text)
