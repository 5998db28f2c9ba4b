"""A node's cache of what was sent to it: files named after the sha256 of their content.

A verified file gets its name in one step (rename), so processes of one machine, and nodes of several clusters, may
share a folder. Each process checks a file before its first use, and so detects damage; a lock on it says that it is in
use.
"""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import re
import tempfile
import time
from collections.abc import Iterable

from mlgo.run.manifest import digest_of_file

_DIGEST = re.compile(r"[0-9a-f]{64}")
#: How full the cache is after making room, so that not every file makes room anew.
_FILL_AFTER_PRUNING = 0.8
_LOCK = ".lock"


class DamagedBlob(Exception):
    """What arrived is not what its digest says."""


class BlobCache:
    """Files by sha256 (hex) of their content, for one thread of a process; above the capacity unused ones go.

    As a context manager: what `path` returned in the block is in use until its end.
    """

    def __init__(self, folder: str | os.PathLike[str], capacity_bytes: int):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._capacity_bytes = capacity_bytes
        self._verified: dict[str, tuple[int, int, int]] = {}
        self._in_use = contextlib.ExitStack()

    def __enter__(self) -> "BlobCache":
        return self

    def __exit__(self, *_) -> None:
        self._in_use.close()

    def path(self, digest: str, pieces: Iterable[bytes]) -> pathlib.Path:
        """Where the content with `digest` lies; `pieces`, in order, are read only when it is not here.

        Raises: DamagedBlob: they have another digest; nothing of them is kept. OSError: it cannot be written.
        """
        if not _DIGEST.fullmatch(digest):
            raise ValueError(f"{digest!r} is no sha256 in hexadecimal digits")
        path = self.folder / digest
        if not self._is_valid(path):
            # The processes of a node want the compiler at the same time: one of them fetches it.
            with open(self.folder / _LOCK, "wb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not self._is_valid(path):
                    self._write(path, pieces)
                    self._is_valid(path)
                    self._prune()
        return path

    def _is_valid(self, path: pathlib.Path) -> bool:
        """Whether the file is there, which is in use from now on; removes a damaged one."""
        try:
            file = self._in_use.enter_context(open(path, "rb"))
            fcntl.flock(file, fcntl.LOCK_SH)
            status = path.stat()
            if status.st_ino != os.fstat(file.fileno()).st_ino:
                return False  # Removed before it was locked.
            identity = (status.st_ino, status.st_size, status.st_mtime_ns)
            if self._verified.get(path.name) != identity:
                if digest_of_file(path) != path.name:
                    path.unlink()
                    return False
                self._verified[path.name] = identity
            # Access times say what was used last; mounts may not keep them.
            os.utime(path, ns=(time.time_ns(), status.st_mtime_ns))
        except FileNotFoundError:
            return False
        return True

    def _write(self, path: pathlib.Path, pieces: Iterable[bytes]) -> None:
        with tempfile.NamedTemporaryFile(dir=self.folder, prefix=f".{path.name}.", suffix=".partial") as partial:
            whole = hashlib.sha256()
            for piece in pieces:
                partial.write(piece)
                whole.update(piece)
            if (found := whole.hexdigest()) != path.name:
                raise DamagedBlob(f"{path.name}: what arrived has the digest {found}")
            partial.flush()
            os.fchmod(partial.fileno(), 0o555)  # A compiler is among them.
            os.fsync(partial.fileno())
            os.link(partial.name, path)

    def _prune(self) -> None:
        """When the cache is full, removes files that nobody uses, the least recently used first."""
        entries = []
        for entry in os.scandir(self.folder):
            with contextlib.suppress(FileNotFoundError):
                status = entry.stat()
                entries.append((max(status.st_atime, status.st_mtime), status.st_size, entry))
        left = sum(size for _, size, _ in entries)
        if left <= self._capacity_bytes:
            return
        for _, size, entry in sorted(entries, key=lambda each: each[:2]):
            if left <= self._capacity_bytes * _FILL_AFTER_PRUNING:
                break
            if entry.name != _LOCK:
                # In use: BlockingIOError. Removed by another process: FileNotFoundError.
                with contextlib.suppress(BlockingIOError, FileNotFoundError), open(entry.path, "rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(entry.path)
                    left -= size
