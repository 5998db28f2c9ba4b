"""The uncompressed bytes of a file, at any place, whether the file is plain, gzip or zstd.

A compressed file can only be read from its start. Of gzip, the state of the decompressor is kept every few MB, so that any
place is one short run away. Of zstd there is no such state to keep: going back starts again.
"""

import bisect
import dataclasses
import os
import pathlib
import threading
import zlib
from collections.abc import Callable
from typing import Any, Protocol

from mlgo.corpus.error import CorpusError

_CHUNK_BYTES = 256 * 1024
#: A kept state holds 32 KB of window: about 1 % of what lies between two of them.
_STATE_EVERY_BYTES = 4 * 1024 * 1024

#: How much more than the file itself its content may be: bitcode shrinks to a fourth, and gzip can make a thousandth of zeros.
MAX_RATIO = 100
MAX_RATIO_FREE_BYTES = 64 * 1024 * 1024

# zlib: 15 for the largest window, 16 for a gzip header.
_GZIP_WINDOW_BITS = 31

COPY_IT_AGAIN = "copy or download it again"


class Source(Protocol):
    """Bytes that can be read at any place, by several threads at once and after a fork."""

    def read_at(self, offset: int, count: int) -> bytes:
        """`count` bytes from `offset`; fewer only at the end.

        Raises: CorpusError: the file is damaged, truncated, or holds absurdly much.
        """


class PlainSource:
    """The file as it is."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        status = os.fstat(self._descriptor)
        self.size = status.st_size
        #: Differs when the file was changed or exchanged.
        self.identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

    def __del__(self):
        # Absent when opening failed.
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)

    def read_at(self, offset: int, count: int) -> bytes:
        parts = []
        while count > 0:
            part = os.pread(self._descriptor, min(count, 1 << 30), offset)
            if not part:
                break
            parts.append(part)
            offset, count = offset + len(part), count - len(part)
        return b"".join(parts)


class Decompressor(Protocol):
    """A run of decompression which began at the file's start or at a kept state."""

    def read(self, count: int) -> bytes:
        """The next bytes, at most `count`; empty only at the end.

        Raises: CorpusError: the file is damaged or truncated.
        """


class CompressedSource:
    """A compressed file.

    Args:
      plain: the file.
      start: begins a run at the file's start.
      keep: copies a run, so that it can go on from where it is more than once; None: runs cannot be copied.
    """

    def __init__(self, plain: PlainSource, start: Callable[[], Any], keep: Callable[[Any], Any] | None):
        self._start, self._keep = start, keep
        self._path = plain.path
        self._max_bytes = MAX_RATIO_FREE_BYTES + MAX_RATIO * plain.size
        self._lock = threading.Lock()
        self._run, self._position = start(), 0
        self._kept_at: list[int] = []
        self._kept: list[Any] = []

    def read_at(self, offset: int, count: int) -> bytes:
        with self._lock:
            self._go_to(offset)
            parts = []
            while count > 0 and (part := self._advance(count)):
                parts.append(part)
                count -= len(part)
            return b"".join(parts)

    def _go_to(self, offset: int) -> None:
        index = bisect.bisect_right(self._kept_at, offset) - 1
        nearest = self._kept_at[index] if index >= 0 else 0
        if not nearest <= self._position <= offset:
            self._run = self._keep(self._kept[index]) if index >= 0 else self._start()
            self._position = nearest
        while self._position < offset and self._advance(offset - self._position):
            pass

    def _advance(self, count: int) -> bytes:
        part = self._run.read(min(count, _CHUNK_BYTES))
        self._position += len(part)
        if self._position > self._max_bytes:
            raise CorpusError(
                str(self._path),
                f"holds more than {self._max_bytes} bytes, {MAX_RATIO} times its own size",
                "that is no corpus; unpack it by hand if you trust it",
            )
        last = self._kept_at[-1] if self._kept_at else 0
        if self._keep and self._position >= last + _STATE_EVERY_BYTES:
            self._kept_at.append(self._position)
            self._kept.append(self._keep(self._run))
        return part


def gzip_source(plain: PlainSource) -> CompressedSource:
    """The content of a gzip file."""
    return CompressedSource(plain, lambda: _GzipRun(plain, zlib.decompressobj(_GZIP_WINDOW_BITS)), _GzipRun.copy)


def zstd_source(plain: PlainSource) -> CompressedSource:
    """The content of a zstd file.

    Raises: CorpusError: this program was built without zstd.
    """
    return CompressedSource(plain, lambda: _ZstdRun(plain), None)


@dataclasses.dataclass
class _GzipRun:
    plain: PlainSource
    inflate: Any
    position: int = 0

    def read(self, count: int) -> bytes:
        while True:
            if self.inflate.eof:
                rest = self.inflate.unused_data or self._input()
                if not rest.strip(b"\0"):
                    return b""  # zeros after the last stream are padding of tapes, which gzip(1) ignores too
                self.inflate = zlib.decompressobj(_GZIP_WINDOW_BITS)
            else:
                rest = self.inflate.unconsumed_tail or self._input()
                if not rest:
                    raise self._damaged("is truncated: its gzip stream has no end")
            try:
                if part := self.inflate.decompress(rest, count):
                    return part
            except zlib.error as error:
                raise self._damaged(f"is damaged: {error}") from error

    def copy(self) -> "_GzipRun":
        return _GzipRun(self.plain, self.inflate.copy(), self.position)

    def _input(self) -> bytes:
        content = self.plain.read_at(self.position, _CHUNK_BYTES)
        self.position += len(content)
        return content

    def _damaged(self, how: str) -> CorpusError:
        return CorpusError(str(self.plain.path), how, COPY_IT_AGAIN)


class _ZstdRun:
    # A stream that was cut short just ends for zstandard; whoever reads the content must notice.

    def __init__(self, plain: PlainSource):
        # Imported here: programs that read no such archive, Bazel's actions above all, do without third-party packages.
        try:
            import zstandard  # pylint: disable=import-outside-toplevel
        except ImportError as error:
            raise CorpusError(
                str(plain.path),
                "is compressed with zstd, which this program cannot read",
                "unpack it, or use .tar.gz or .zip",
            ) from error
        self._path, self._error = plain.path, zstandard.ZstdError
        self._stream = zstandard.ZstdDecompressor().stream_reader(
            _Input(plain), read_size=_CHUNK_BYTES, read_across_frames=True
        )

    def read(self, count: int) -> bytes:
        try:
            return self._stream.read(count)
        except self._error as error:
            raise CorpusError(str(self._path), f"is damaged: {error}", COPY_IT_AGAIN) from error


@dataclasses.dataclass
class _Input:
    """What zstandard reads from: it wants an object with `read`."""

    plain: PlainSource
    position: int = 0

    def read(self, count: int) -> bytes:
        content = self.plain.read_at(self.position, count)
        self.position += len(content)
        return content
