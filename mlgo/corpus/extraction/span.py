"""A part of an open file, read with bounds checks, because object files are untrusted."""

from __future__ import annotations

import os

from mlgo.corpus.extraction.outcome import Kind, LeftOut

#: Larger parts are refused: a sparse file can state sections of any size. The largest module of an LTO build that we
#: know has 200 MB of bitcode.
MAX_PART_BYTES = 2 * 1024**3


class Span:
    """`size` bytes of an open file from `start`. Reads of it never leave it.

    It uses reads and no memory map: a running build may shorten the file, and a map would then kill the process.
    """

    def __init__(self, descriptor: int, start: int, size: int):
        self._descriptor, self._start, self.size = descriptor, start, size

    def read(self, offset: int, size: int) -> bytes:
        """Raises: LeftOut: the file ends earlier, or the part is larger than MAX_PART_BYTES."""
        if offset < 0 or size < 0 or offset + size > self.size:
            reason = f"is cut off: bytes {offset} to {offset + size} of {self.size} are asked for"
            raise LeftOut(Kind.UNREADABLE_OBJECT, reason)
        if size > MAX_PART_BYTES:
            reason = f"has a part of {size} bytes at {offset}, more than the {MAX_PART_BYTES} allowed"
            raise LeftOut(Kind.UNREADABLE_OBJECT, reason)
        pieces = []
        while size > 0:
            # One call reads 2 GiB at most.
            piece = os.pread(self._descriptor, size, self._start + offset)
            if not piece:
                raise LeftOut(Kind.UNREADABLE_OBJECT, "became shorter while it was read")
            pieces.append(piece)
            offset += len(piece)
            size -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def head(self, size: int) -> bytes:
        """The first `size` bytes, or as many as there are."""
        return self.read(0, min(size, self.size))

    def part(self, offset: int, size: int) -> Span:
        """Raises: LeftOut: it would not lie inside."""
        if offset < 0 or size < 0 or offset + size > self.size:
            raise LeftOut(Kind.UNREADABLE_OBJECT, f"is cut off: a part at {offset} of {size} bytes does not fit")
        return Span(self._descriptor, self._start + offset, size)
