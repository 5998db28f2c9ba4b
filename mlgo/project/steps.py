"""Steps of a measurement: programs that are run, the CPU time that they may take, and lines of progress."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mlgo.run.exit_codes import RunError

_SHOWN_BYTES = 4000
# Colours, which some builds ask for.
_ESCAPES = re.compile(r"\x1b\[[\d;]*[mK]")
_FULL_DISK = "No space left on device"
# What of the caller's variables changes what clang does, or the language of its messages.
_DROPPED = ("CCC_OVERRIDE_OPTIONS", "LANGUAGE", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES")
#: CPU seconds of a build whose compiles were not measured.
_FEWEST_SECONDS = 1.0
_INTERVAL_SECONDS = 10.0


class Ended(NamedTuple):
    """How a program ended: exit code (negative: a signal), CPU seconds, and the beginning of its messages."""

    code: int
    seconds: float
    messages: str

    @property
    def reason(self) -> str:
        """The first error among the messages, in one line: the linker's own, not clang's that it failed."""
        lines = [line.strip() for line in self.messages.splitlines() if line.strip()]
        told = [line for line in lines if "warning: " not in line and "linker command failed" not in line] or lines
        return next((line for line in told if "error" in line.lower()), told[0] if told else f"exit code {self.code}")


def run(words: Sequence[str], directory: str) -> Ended:
    """Runs a command, without input and in English. Raises: RunError: the disk is full, or it cannot be started."""
    environment = {name: value for name, value in os.environ.items() if name not in _DROPPED}
    with tempfile.TemporaryFile() as messages:
        try:
            process = subprocess.Popen(
                words,
                cwd=directory,
                env={**environment, "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=messages,
                stderr=messages,
            )
        except OSError as error:
            wrong = f"cannot be started in {directory}: {error.strerror}"
            raise RunError(os.path.basename(words[0]), wrong, "Run the build again") from error
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        text = _ESCAPES.sub("", messages.read(_SHOWN_BYTES).decode("utf-8", "replace"))
    if process.returncode and _FULL_DISK in text:
        raise RunError(directory, "has no space left, or the folder of mlgo has none", "Free space; nothing is lost")
    return Ended(process.returncode, usage.ru_utime + usage.ru_stime, text)


class Allowance(NamedTuple):
    """What a command may spend: so many times the CPU time of a build, and at least so many seconds."""

    times: float
    seconds: float = 0.0

    def of(self, build_seconds: float) -> float:
        """CPU seconds."""
        return max(self.times * max(build_seconds, _FEWEST_SECONDS), self.seconds)


class Budget:
    """CPU seconds for compiles and links; safe for several threads. Args: seconds: in all."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        self.spent = 0.0
        self._reserved = 0.0
        self._lock = threading.Lock()

    @property
    def left(self) -> float:
        return max(0.0, self.seconds - self.spent - self._reserved)

    def reserve(self, seconds: float) -> bool:
        """Keeps so many seconds for work that begins now; False: they are not left."""
        with self._lock:
            if self.spent + self._reserved + seconds > self.seconds:
                return False
            self._reserved += seconds
            return True

    def settle(self, reserved: float, seconds: float) -> None:
        """The work for which `reserved` seconds were kept has taken `seconds`."""
        with self._lock:
            self._reserved -= reserved
            self.spent += seconds


class Progress:
    """Says nothing of a step that ends within ten seconds. Args: say: prints a sentence. clock: seconds."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic):
        self._say, self._clock = say, clock
        self._last = clock()

    def at(self, text: str) -> None:
        """Says `text`, unless ten seconds have not passed since the last one."""
        now = self._clock()
        if now - self._last >= _INTERVAL_SECONDS:
            self._last = now
            self._say(text)
