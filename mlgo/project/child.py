"""Runs one program and measures its CPU time."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from typing import NamedTuple

from mlgo.run.exit_codes import RunError

_SHOWN_BYTES = 4000
# Colours, which some builds ask for.
_ESCAPES = re.compile(r"\x1b\[[\d;]*[mK]")
_FULL_DISK = "No space left on device"


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
    """Runs `words` in `directory`, without input.

    Raises: RunError: the disk is full, or the program cannot be started.
    """
    with tempfile.TemporaryFile() as messages:
        try:
            process = subprocess.Popen(
                words, cwd=directory, stdin=subprocess.DEVNULL, stdout=messages, stderr=messages, env=_environment()
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


def _environment() -> dict[str, str]:
    """Messages in English, and nothing of the caller's that changes what clang does."""
    dropped = ("CCC_OVERRIDE_OPTIONS", "LANGUAGE", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES")
    return {**{name: value for name, value in os.environ.items() if name not in dropped}, "LC_ALL": "C"}
