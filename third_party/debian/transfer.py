"""One attempt to copy one archive from one mirror, in a thread of its own, so that it can be watched and abandoned."""

import errno
import os
import pathlib
import socket
import threading
from typing import BinaryIO, Callable, Optional

import digests
import lockfile
import mirrors
import sources


class Transfer:
    """Copies an archive into a partial file, goes on where the file ends, and verifies it at the end.

    It never reads or writes more bytes than the lock says.

    Args:
        entry: the archive.
        base: the mirror, an address or a directory.
        partial: the file to write; what it holds is taken for the beginning of the archive.
        timeout: seconds that one operation of the socket may take.
        on_bytes: receives the number of bytes that arrived; a negative number takes bytes back.
        on_end: receives this object when it ends by itself.

    Attributes:
        received: bytes that arrived since it began; None before the mirror's answer.
        have: bytes of the archive that are in the partial file.
        waiting: it waits for the mirror, and not for this machine's disk.
        failure: why it ended without the archive; None when the archive is verified.
        error: what went wrong with the partial file.
    """

    def __init__(
        self,
        entry: lockfile.Entry,
        base: str,
        partial: pathlib.Path,
        timeout: float,
        on_bytes: Callable[[int], None],
        on_end: Callable[["Transfer"], None],
    ):
        self.entry, self.base, self.partial = entry, base, partial
        self.received: Optional[int] = None
        self.have, self.waiting = 0, True
        self.failure: Optional[sources.Failed] = None
        self.error: Optional[OSError] = None
        self._timeout, self._on_bytes, self._on_end = timeout, on_bytes, on_end
        self._counted = 0
        self._socket: Optional[socket.socket] = None
        # Guards what `abandon` must see: after it no byte is written and nothing is reported.
        self._lock = threading.Lock()
        self._abandoned = False

    def start(self) -> None:
        # A daemon: a thread that waits for a name server cannot be woken, and must not keep the process alive.
        threading.Thread(target=self._run, daemon=True).start()

    def abandon(self) -> None:
        """Ends it. The partial file is free for another transfer when this returns."""
        with self._lock:
            self._abandoned = True
            if self._socket:
                sources.shut(self._socket)

    def _connected(self, connection: socket.socket) -> None:
        with self._lock:
            self._socket = connection
            if self._abandoned:
                sources.shut(connection)

    def _run(self) -> None:
        try:
            self._copy_and_verify()
        except sources.Failed as failure:
            self.failure = failure
        except OSError as error:
            self.error = error
        except Exception as error:  # A thread that ends without a word would be waited for.
            self.failure = sources.Failed(sources.Kind.REFUSED, f"{type(error).__name__}: {error}")
        with self._lock:
            if not self._abandoned:
                self._on_end(self)

    def _copy_and_verify(self) -> None:
        resumed = self._prepare()
        try:
            self._copy()
            clause = self._wrong_bytes()
        except sources.RangeRefused as failure:
            clause = failure.reason
        if clause and resumed:
            # The partial file of an earlier attempt need not be the beginning of this file.
            self._empty()
            self._copy()
            clause = self._wrong_bytes()
        if clause:
            self._empty()
            raise sources.Failed(sources.Kind.DIFFERENT, clause)

    def _prepare(self) -> int:
        """Bytes of an earlier attempt."""
        self.have = self.partial.stat().st_size if self.partial.exists() else 0
        if self.have > self.entry.size:
            self._empty()
        return self.have

    def _empty(self) -> None:
        with self._lock:
            if self._abandoned:
                return
            self.partial.unlink(missing_ok=True)
            self._on_bytes(-self._counted)
            self.have = self._counted = 0

    def _copy(self) -> None:
        """Completes the partial file.

        Raises:
            Failed: the mirror does not serve the rest.
            OSError: the partial file cannot be written.
        """
        if self.have == self.entry.size:
            return
        self.waiting = True
        directory = mirrors.directory(self.base)
        if directory is not None:
            opened = sources.open_file(directory, self.entry)
        else:
            opened = sources.open_url(f"{self.base}/{self.entry.path}", self.have, self._timeout, self._connected)
        with opened as answer:
            self.received = self.received or 0
            if answer.total not in (None, self.entry.size):
                raise sources.Failed(
                    sources.Kind.DIFFERENT,
                    f"announces {answer.total} bytes of {answer.form}, the lock says {self.entry.size} bytes",
                )
            if answer.start != self.have:
                self._empty()
            self._write(answer)
        self.waiting = False

    def _write(self, answer: sources.Answer) -> None:
        with self._opened() as file:
            while self.have < self.entry.size:
                self.waiting = True
                chunk = answer.read(min(digests.CHUNK_BYTES, self.entry.size - self.have))
                self.waiting = False
                if not chunk:
                    raise sources.Failed(sources.Kind.TEMPORARY, self._wrong_bytes() or "cut off")
                with self._lock:
                    if self._abandoned:
                        raise sources.Failed(sources.Kind.TEMPORARY, "abandoned")
                    if file.write(chunk) != len(chunk):
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                    self.have += len(chunk)
                    self.received = (self.received or 0) + len(chunk)
                    self._counted += len(chunk)
                    self._on_bytes(len(chunk))

    def _opened(self) -> BinaryIO:
        with self._lock:
            if self._abandoned:
                raise sources.Failed(sources.Kind.TEMPORARY, "abandoned")
            return open(self.partial, "ab", buffering=0)

    def _wrong_bytes(self) -> Optional[str]:
        self.waiting = False
        return digests.wrong_bytes(self.entry, self.partial)
