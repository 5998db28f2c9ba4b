"""Processes that end with a block of this program, and processes with a root folder of their own."""

import contextlib
import os
import pathlib
import shlex
import signal
import subprocess
from collections.abc import Iterator, Sequence

_SHUTDOWN_SECONDS = 10


@contextlib.contextmanager
def process(command: list, log: pathlib.Path, **options) -> Iterator[subprocess.Popen]:
    """A process in a group of its own, which ends with the block; `log` gets what it says.

    Args: options: of `subprocess.Popen`.
    """
    with open(log, "ab") as output:
        started = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, **options
        )
    try:
        yield started
    finally:
        for number in (signal.SIGINT, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(started.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                started.wait(_SHUTDOWN_SECONDS)


def in_root(root: pathlib.Path, command: str, mounts: Sequence[str] = ()) -> list[str]:
    """A command that runs `command` with `root` as its root folder and with process numbers of its own.

    It sees the devices of this machine and, in /old, the folders of this machine, until it unmounts that. The first
    process of a process namespace takes all others of the namespace with it. The pivot leaves user namespaces usable.

    Args:
      root: holds empty folders `dev` and `old`.
      command: words of a shell, with paths below `root`.
      mounts: commands of a shell that mount more before, with `root` as the current directory.
    """
    quoted = shlex.quote(str(root))
    steps = [
        "export PATH=/usr/sbin:/usr/bin:/sbin:/bin",
        f"mount --bind {quoted} {quoted}",
        f"mount --rbind /dev {quoted}/dev",
        f"cd {quoted}",
        *mounts,
        "pivot_root . old",
        f"exec {command}",
    ]
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", " && ".join(steps)]


def children(process_id: int) -> list[int]:
    """Ids of the processes that a process has started and that live; none when it has ended."""
    try:
        names = os.listdir(f"/proc/{process_id}/task")
        texts = [pathlib.Path(f"/proc/{process_id}/task/{name}/children").read_text("ascii") for name in names]
    except OSError:
        return []
    return [int(word) for text in texts for word in text.split()]


def descendants(process_id: int) -> list[int]:
    """A process and those that it has started, directly or not, as far as their parents live."""
    found = [process_id]
    for each in found:
        found += children(each)
    return found
