"""Runs a command of mlgo as a process of its own and measures it: seconds, and the most memory it had."""

import dataclasses
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

# The command gets this process's search path. The peak is read at its very end, and from /proc: after a fork, getrusage
# also counts the memory of the process that started the command.
_START = """\
import atexit, pathlib, runpy, sys
def report():
    status = pathlib.Path("/proc/self/status").read_text()
    peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
    pathlib.Path({report!r}).write_text(peak)
atexit.register(report)
sys.path[:] = {path!r}
runpy.run_module({module!r}, run_name="__main__")
"""


@dataclasses.dataclass(frozen=True)
class Cost:
    """Of one command: wall-clock seconds, and megabytes of its Python process at most; compilers are not counted."""

    seconds: float
    megabytes: float


def run(module: str, *flags: str) -> Cost:
    """Runs the command `module` with `flags`.

    Raises: RuntimeError: its exit code is not 0; carries the end of what it said.
    """
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryFile("w+") as said:
        report = pathlib.Path(scratch, "peak")
        begin = time.monotonic()
        code = _start(module, flags, report, said).wait()
        seconds = time.monotonic() - begin
        if code:
            said.seek(0)
            raise RuntimeError(f"{module} {' '.join(flags)}: exit code {code}\n{said.read()[-2000:]}")
        return Cost(seconds, int(report.read_text(encoding="ascii")) / 1024)


def kill_at_random(module: str, flags: Sequence[str], kills: int, seconds: float, seed: int = 1) -> int:
    """Starts the command up to `kills` times, each time killing it at a random moment; returns the number of kills.

    Args: seconds: what the command takes when it is left alone; the kills are spread over it.
    """
    moments = random.Random(seed)
    with tempfile.TemporaryDirectory() as scratch:
        for done in range(kills):
            with open(os.devnull, "w", encoding="utf-8") as said:
                process = _start(module, flags, pathlib.Path(scratch, "peak"), said)
                try:
                    process.wait(moments.uniform(0.0, 2.0 * seconds / (kills + 1)))
                    return done
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
    return kills


def _start(module: str, flags: Sequence[str], report: pathlib.Path, said) -> subprocess.Popen:
    program = _START.format(report=str(report), path=sys.path, module=module)
    return subprocess.Popen(
        [sys.executable, "-c", program, *flags], stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT
    )
