"""Parts of open files, and members of `ar` archives: GNU, BSD and thin ones (as llvm/lib/Object/Archive.cpp reads).

Both are untrusted: every offset and size is checked.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator

from mlgo.corpus.extraction.outcome import Kind, LeftOut

MAGIC = b"!<arch>\n"
THIN_MAGIC = b"!<thin>\n"

#: Larger parts are refused: a sparse file can state sections of any size. The largest module of an LTO build that we
#: know has 200 MB of bitcode.
MAX_PART_BYTES = 2 * 1024**3

_HEADER_BYTES = 60
_LONGEST_NAME = 4096  # Of a path.
_HEADER_END = b"`\n"
_TABLES = frozenset({b"/", b"//", b"/SYM64/", b"/<ECSYMBOLS>/", b"__.SYMDEF", b"__.SYMDEF SORTED", b"__.SYMDEF_64"})


class Span:
    """`size` bytes of an open file from `start`. Reads of it never leave it.
    It uses reads and no memory map: a running build may shorten the file, and a map would then kill the process."""

    def __init__(self, descriptor: int, start: int, size: int):
        self._descriptor, self._start, self.size = descriptor, start, size

    def read(self, offset: int, size: int) -> bytes:
        """Raises: LeftOut: the file ends earlier, or the part is larger than MAX_PART_BYTES."""
        if offset < 0 or size < 0 or offset + size > self.size:
            raise _unreadable(f"is cut off: bytes {offset} to {offset + size} of {self.size} are asked for")
        if size > MAX_PART_BYTES:
            raise _unreadable(f"has a part of {size} bytes at {offset}, more than the {MAX_PART_BYTES} allowed")
        pieces = []
        while size > 0:
            # One call reads 2 GiB at most.
            piece = os.pread(self._descriptor, size, self._start + offset)
            if not piece:
                raise _unreadable("became shorter while it was read")
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
            raise _unreadable(f"is cut off: a part at {offset} of {size} bytes does not fit")
        return Span(self._descriptor, self._start + offset, size)


@dataclasses.dataclass(frozen=True)
class Member:
    """A file in an archive."""

    #: As it was put in; in a thin archive a path relative to the archive's folder.
    name: str
    #: Offset of its header, which distinguishes members of one name (lld writes it as `at HEADER`).
    header: int
    #: Where its content lies; size 0 in a thin archive, which holds names only.
    start: int
    size: int


def is_archive(head: bytes) -> bool:
    return head.startswith((MAGIC, THIN_MAGIC))


def is_thin(head: bytes) -> bool:
    return head.startswith(THIN_MAGIC)


def members(span: Span) -> Iterator[Member]:
    """The members in their order, symbol and name tables left out.
    Raises: LeftOut: the file is not as the format requires."""
    thin = is_thin(span.read(0, len(MAGIC)))
    names = b""
    position = len(MAGIC)
    while position < span.size:
        header = span.read(position, _HEADER_BYTES)
        size_text = header[48:58].rstrip(b" ")
        if header[58:60] != _HEADER_END or not size_text.isdigit():
            raise _unreadable(f"is an archive whose member at {position} has a broken header")
        start, size = position + _HEADER_BYTES, int(size_text)
        field = header[:16].rstrip(b" ")
        if field == b"//":
            names = span.read(start, size)
        in_file = not thin or field in _TABLES
        name, skipped = _name(field, span, start, size, names)
        if len(name) > _LONGEST_NAME:  # Each member may name the same end of the table.
            raise _unreadable(f"is an archive whose member at {position} has a name of {len(name)} bytes")
        if b"\0" in name:
            raise _unreadable(f"is an archive whose member at {position} has a NUL in its name")
        if field not in _TABLES and name not in _TABLES:
            if in_file:
                span.part(start, size)  # Checks that it is all there.
            yield Member(os.fsdecode(name), position, start + skipped, size - skipped if in_file else 0)
        position = start + (size if in_file else 0)
        position += position % 2


def _name(field: bytes, span: Span, start: int, size: int, names: bytes) -> tuple[bytes, int]:
    """The member's name and how many bytes of its content that took."""
    if field.startswith(b"#1/") and field[3:].isdigit():  # BSD: the name precedes the content.
        length = int(field[3:])
        if length > size:
            raise _unreadable("is an archive with a name longer than its member")
        return span.read(start, length).rstrip(b"\0"), length
    if field.startswith(b"/") and field[1:].isdigit():  # GNU: the name stands in the member called `//`.
        offset = int(field[1:])
        if offset >= len(names):
            raise _unreadable(f"is an archive with a name at {offset}, behind its {len(names)} bytes of names")
        end = names.find(b"\n", offset)
        name = names[offset : end if end >= 0 else len(names)]
        return name.partition(b"\0")[0].removesuffix(b"/"), 0
    return (field if field in _TABLES else field.removesuffix(b"/")), 0


def _unreadable(reason: str) -> LeftOut:
    return LeftOut(Kind.UNREADABLE_OBJECT, reason)
