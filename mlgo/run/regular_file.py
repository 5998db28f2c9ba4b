"""Reads files that others may have written: regular files only, with a limit, and without waiting for a pipe."""

from __future__ import annotations

import contextlib
import os
import pathlib
import stat
from collections.abc import Iterator

from mlgo.run.exit_codes import RunError

_KINDS = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
_KINDS.update(dict.fromkeys((stat.S_IFCHR, stat.S_IFBLK), "a device"))
_IMPOSSIBLE_NAME = "its name holds what no file name can hold"


class RefusedFile(OSError):
    """A file that exists and is not read; `strerror` gives the reason, as for the system's own errors."""

    def __init__(self, path: str | os.PathLike[str], reason: str):
        super().__init__(None, reason)
        self.strerror, self.filename = reason, os.fspath(path)

    def __str__(self) -> str:
        return f"{self.strerror}: {self.filename!r}"


@contextlib.contextmanager
def open_regular(path: str | os.PathLike[str], most_bytes: int | None = None) -> Iterator[int]:
    """A file descriptor for reading, which is closed when the block ends. Symbolic links are followed.

    Raises: OSError: it cannot be opened, is no regular file, or is larger than `most_bytes` (None: no limit).
    """
    # Before opening: some devices act on being opened.
    size_of_regular(path, most_bytes)
    # Without waiting: a pipe may have taken the file's place since.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        _check(path, os.fstat(descriptor), most_bytes)
        yield descriptor
    finally:
        os.close(descriptor)


def size_of_regular(path: str | os.PathLike[str], most_bytes: int | None = None) -> int:
    """Bytes of a file, which is not opened. Raises: OSError: as `open_regular`."""
    try:
        status = os.stat(path)
    except ValueError as error:
        raise RefusedFile(path, _IMPOSSIBLE_NAME) from error
    _check(path, status, most_bytes)
    return status.st_size


def read_regular(path: str | os.PathLike[str], most_bytes: int = 1 << 32) -> bytes:
    """The content of a file. Raises: OSError: as `open_regular`, or it changed its size while it was read."""
    with open_regular(path, most_bytes) as descriptor:
        return read_open(descriptor, os.fstat(descriptor).st_size, path)


def beginning_of(path: str | os.PathLike[str], size: int) -> bytes:
    """The first bytes of a file, at most `size`. Raises: OSError: as `open_regular`."""
    with open_regular(path) as descriptor:
        return os.read(descriptor, size)


def read_open(descriptor: int, size: int, path: str | os.PathLike[str]) -> bytes:
    """The `size` bytes that the open file at `path` has. Raises: RefusedFile: it has more or fewer."""
    pieces, left = [], size + 1
    # One call reads 2 GiB at most; one byte more than expected shows that the file grew.
    while left > 0 and (piece := os.read(descriptor, left)):
        pieces.append(piece)
        left -= len(piece)
    if left != 1:
        raise RefusedFile(path, "it changed its size while it was read")
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def read_file(path: str | os.PathLike[str], most_bytes: int, what: str, remedy: str) -> bytes:
    """The content of a file. Args: what: its kind, for the message: "the trace manifest"; remedy: what to do.

    Raises: RunError: the file is absent, no regular file, larger than `most_bytes`, or cannot be read.
    """
    subject = f"{what} ({pathlib.Path(path)})"
    try:
        return read_regular(path, most_bytes)
    except FileNotFoundError as error:
        raise RunError(subject, "does not exist", remedy) from error
    except OSError as error:
        raise RunError(subject, f"cannot be read: {error.strerror}", remedy) from error


def read_text(path: str | os.PathLike[str], most_bytes: int, what: str, remedy: str) -> str:
    """The content of a UTF-8 file, see `read_file`. Raises: RunError: also when it is not UTF-8."""
    try:
        return read_file(path, most_bytes, what, remedy).decode("utf-8")
    except UnicodeDecodeError as error:
        raise RunError(f"{what} ({pathlib.Path(path)})", f"is not UTF-8 at byte {error.start}", remedy) from error


def _check(path: str | os.PathLike[str], status: os.stat_result, most_bytes: int | None) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise RefusedFile(path, f"it is {_KINDS.get(stat.S_IFMT(status.st_mode), 'something else')}, not a file")
    if most_bytes is not None and status.st_size > most_bytes:
        raise RefusedFile(path, f"it has {status.st_size} bytes, more than the {most_bytes} allowed")
