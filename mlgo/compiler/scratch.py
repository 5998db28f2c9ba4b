"""Temporary directories for compiles: in memory when there is room, and removed even if the process was killed.

Every process owns one directory below a per-user one and holds a lock on it; a later process removes the directories
whose lock is free.
"""

import atexit
import contextlib
import fcntl
import functools
import os
import pathlib
import shutil
import stat
import tempfile
from collections.abc import Iterator

from mlgo.run.exit_codes import RunError

_MEMORY_DISK = "/dev/shm"
# The largest log of the built-in corpus has 30 MB and an object 2 MB; this is room for dozens at a time.
_MIN_FREE_BYTES = 2 * 1024**3


@contextlib.contextmanager
def scratch_directory(parent: str | os.PathLike[str] | None = None) -> Iterator[str]:
    """A fresh directory, removed with all its content at the end of the block. Raises: RunError: it cannot be made.

    Args: parent: where to make it; None: the memory disk when it has room, else the system's folder of temporary files.
    """
    try:
        directory = tempfile.mkdtemp(prefix="compile-", dir=parent or _process_directory(os.getpid()))
    except OSError as error:
        wrong = f"cannot be made: {error.strerror}"
        raise RunError(f"temporary directory below {error.filename}", wrong, "free space, or set TMPDIR") from error
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@functools.cache
def _process_directory(process_id: int) -> str:
    """This process's directory; `process_id` makes a forked child have its own."""
    base = _user_directory()
    with _locked(base / "lock"):
        _remove_abandoned(base)
        directory = tempfile.mkdtemp(prefix=f"process-{process_id}-", dir=base)
        own_lock = os.open(os.path.join(directory, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(own_lock, fcntl.LOCK_EX)  # held until the process ends
    atexit.register(_remove_if_owner, directory, process_id)
    return directory


def _remove_if_owner(directory: str, process_id: int) -> None:
    if os.getpid() == process_id:
        shutil.rmtree(directory, ignore_errors=True)


def _user_directory() -> pathlib.Path:
    name = f"mlgo-{os.getuid()}"
    for parent in (*([_MEMORY_DISK] if _has_room(_MEMORY_DISK) else []), tempfile.gettempdir()):
        directory = pathlib.Path(parent, name)
        with contextlib.suppress(FileExistsError):
            directory.mkdir(mode=0o700)
        # In a directory with write access for all, another user may have made it first.
        status = directory.lstat()
        if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid():
            return directory
    raise RunError(f"{directory}", "belongs to another user", "set TMPDIR to a directory of your own")


def _has_room(path: str) -> bool:
    try:
        return os.access(path, os.W_OK) and shutil.disk_usage(path).free >= _MIN_FREE_BYTES
    except OSError:
        return False


def _remove_abandoned(base: pathlib.Path) -> None:
    for directory in base.glob("process-*"):
        # No lock: its owner was killed between making it and locking it; both happen under the lock held here.
        with contextlib.suppress(BlockingIOError, FileNotFoundError), _locked(directory / "lock", fcntl.LOCK_NB):
            shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def _locked(path: pathlib.Path, flags: int = 0) -> Iterator[None]:
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | flags)
        yield
    finally:
        os.close(lock)
