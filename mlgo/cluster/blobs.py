"""A node's cache of what was sent to it: files named after the sha256 of their content.

A verified file gets its name in one step (rename), so processes of one machine, and nodes of several clusters, may
share a folder. Each process checks a file before its first use, and so detects damage.
"""

import contextlib
import hashlib
import os
import pathlib
import re
import tempfile
import threading
import time

_DIGEST = re.compile(r"[0-9a-f]{64}")
_PIECE_BYTES = 1 << 20

#: A full cache removes files that were unused for this long, oldest first; younger ones stay, because a compile may be
#: about to open them.
_IN_USE_SECONDS = 3600
#: How full the cache is after making room, so that not every file makes room anew.
_FILL_AFTER_PRUNING = 0.8


class DamagedBlob(Exception):
    """What arrived is not what its digest says."""


class BlobCache:
    """Files by sha256 (hex) of their content. Safe to use by several threads and processes.

    Args:
      folder: where they lie; made when absent.
      capacity_bytes: above it, files that were not used lately are removed.
    """

    def __init__(self, folder: str | os.PathLike[str], capacity_bytes: int):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._capacity_bytes = capacity_bytes
        self._verified: dict[str, tuple[int, int, int]] = {}
        self._uploads: dict[str, tuple[int, pathlib.Path]] = {}
        self._lock = threading.Lock()
        self._bytes = sum(entry.stat().st_size for entry in os.scandir(self.folder))

    def path(self, digest: str) -> pathlib.Path | None:
        """Where the content with `digest` lies, or None when it is not here."""
        path = self._path(digest)
        try:
            status = path.stat()
            identity = (status.st_ino, status.st_size, status.st_mtime_ns)
            if self._verified.get(digest) != identity:
                if _sha256(path) != digest:
                    path.unlink()
                    return None
                self._verified[digest] = identity
            os.utime(
                path, ns=(time.time_ns(), status.st_mtime_ns)
            )  # Access times say what is in use; mounts may not keep them.
        except FileNotFoundError:
            return None
        return path

    def read(self, digest: str, offset: int, size: int) -> bytes:
        """At most `size` bytes of the content with `digest`, from `offset` on.

        Raises: FileNotFoundError: it is not here.
        """
        if (path := self.path(digest)) is None:
            raise FileNotFoundError(f"{self._path(digest)} is not in the cache")
        with open(path, "rb") as file:
            file.seek(offset)
            return file.read(size)

    def append(self, digest: str, offset: int, piece: bytes, is_last: bool) -> None:
        """Takes the next piece of a file that arrives in order; offset 0 begins it anew.

        Raises:
          DamagedBlob: a piece is missing, or the whole has another digest; nothing of it is kept.
          OSError: it cannot be written.
        """
        self._path(digest)
        try:
            if offset == 0:
                self._forget(digest)
                descriptor, partial = tempfile.mkstemp(dir=self.folder, prefix=f".{digest}.", suffix=".partial")
                self._uploads[digest] = (descriptor, pathlib.Path(partial))
            descriptor, partial = self._uploads.get(digest, (-1, self.folder))
            if descriptor < 0 or os.lseek(descriptor, 0, os.SEEK_END) != offset:
                raise DamagedBlob(f"{digest}: a piece came for offset {offset}, which is not where the last one ended")
            view = memoryview(piece)
            while view:
                view = view[os.write(descriptor, view) :]
            if is_last:
                self._finish(digest, descriptor, partial)
        except BaseException:
            self._forget(digest)
            raise

    def _finish(self, digest: str, descriptor: int, partial: pathlib.Path) -> None:
        if (found := _sha256(partial)) != digest:
            raise DamagedBlob(f"{digest}: what arrived has the digest {found}")
        os.fchmod(descriptor, 0o555)  # A compiler is among them.
        os.fsync(descriptor)
        size = os.lseek(descriptor, 0, os.SEEK_END)
        os.close(descriptor)
        del self._uploads[digest]
        os.replace(partial, self._path(digest))
        with self._lock:
            self._bytes += size
            if self._bytes > self._capacity_bytes:
                self._bytes = _prune(self.folder, self._capacity_bytes, time.time() - _IN_USE_SECONDS)

    def _forget(self, digest: str) -> None:
        if digest in self._uploads:
            descriptor, partial = self._uploads.pop(digest)
            with contextlib.suppress(OSError):
                os.close(descriptor)
            partial.unlink(missing_ok=True)

    def _path(self, digest: str) -> pathlib.Path:
        if not _DIGEST.fullmatch(digest):
            raise ValueError(f"{digest!r} is no sha256 in hexadecimal digits")
        return self.folder / digest


def _prune(folder: pathlib.Path, capacity_bytes: int, used_before: float) -> int:
    """Removes files unused since `used_before` (Unix time), oldest first; returns the remaining bytes."""
    entries = []
    for entry in os.scandir(folder):
        with contextlib.suppress(FileNotFoundError):
            status = entry.stat()
            entries.append((max(status.st_atime, status.st_mtime), status.st_size, entry.path))
    left = sum(size for _, size, _ in entries)
    for used, size, path in sorted(entries):
        if left <= capacity_bytes * _FILL_AFTER_PRUNING or used > used_before:
            break
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        left -= size
    return left


def _sha256(path: pathlib.Path) -> str:
    with open(path, "rb") as file:
        whole = hashlib.sha256()
        while piece := file.read(_PIECE_BYTES):
            whole.update(piece)
    return whole.hexdigest()
