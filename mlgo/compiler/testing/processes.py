"""Which processes a compile has left behind."""

import os
import pathlib
import time

_MOST_WAITS = 100
_WAIT_SECONDS = 0.05


def left_in(directory: pathlib.Path) -> list[str]:
    """Numbers of processes whose current directory is, or was, below `directory`; after 5 s at most."""
    for _ in range(_MOST_WAITS):
        found = _found(directory)
        if not found:
            break
        # The kernel ends a killed process a moment after kill() returns.
        time.sleep(_WAIT_SECONDS)
    return found


def _found(directory: pathlib.Path) -> list[str]:
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.readlink(entry / "cwd").startswith(str(directory)):
                    found.append(entry.name)
            except OSError:
                pass
    return found
