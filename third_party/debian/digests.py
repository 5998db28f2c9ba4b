"""The archive cache, and the comparison of its files with the size and digest that the lock pins."""

import hashlib
import os
import pathlib
import stat
from typing import Mapping, Optional

import lockfile

CHUNK_BYTES = 1 << 20


def default_cache(environ: Mapping[str, str]) -> pathlib.Path:
    """The per-user archive cache: $XDG_CACHE_HOME/mlgo/archives, by default below ~/.cache."""
    base = environ.get("XDG_CACHE_HOME") or os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".cache")
    return pathlib.Path(base) / "mlgo" / "archives"


def sha256_of(path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for chunk in iter(lambda: file.read(CHUNK_BYTES), b""):
            digest.update(chunk)
    return digest.hexdigest()


def wrong_bytes(entry: lockfile.Entry, path) -> Optional[str]:
    """How the file differs from the archive `entry`, as a clause; None when they are equal.

    A file that is larger than the archive is not read, because it may have no end.

    Raises:
        OSError: the file cannot be read.
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        return "it is no regular file"
    if status.st_size > entry.size:
        return f"size is {status.st_size} bytes, the lock says {entry.size} bytes"
    digest = sha256_of(path)
    if digest == entry.sha256:
        return None
    cut = "cut off: " if status.st_size < entry.size else ""
    return (
        f"{cut}size is {status.st_size} bytes and sha256 {digest}, the lock says {entry.size} bytes and {entry.sha256}"
    )
