"""Members of `ar` archives: GNU, BSD and thin ones (the format as llvm/lib/Object/Archive.cpp reads it)."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator

from mlgo.corpus.extraction.outcome import Kind, LeftOut
from mlgo.corpus.extraction.span import Span

MAGIC = b"!<arch>\n"
THIN_MAGIC = b"!<thin>\n"

_HEADER_BYTES = 60
_HEADER_END = b"`\n"
_TABLES = frozenset({b"/", b"//", b"/SYM64/", b"/<ECSYMBOLS>/", b"__.SYMDEF", b"__.SYMDEF SORTED", b"__.SYMDEF_64"})


@dataclasses.dataclass(frozen=True)
class Member:
    """A file in an archive.

    Attributes:
      name: as it was put in; in a thin archive a path relative to the archive's folder.
      header: offset of its header, which distinguishes members of one name (lld writes it as `at HEADER`).
      start, size: where its content lies; size 0 in a thin archive, which holds names only.
    """

    name: str
    header: int
    start: int
    size: int


def is_archive(head: bytes) -> bool:
    return head.startswith((MAGIC, THIN_MAGIC))


def is_thin(head: bytes) -> bool:
    return head.startswith(THIN_MAGIC)


def members(span: Span) -> Iterator[Member]:
    """The members in their order, symbol and name tables left out.

    Raises: LeftOut: the file is not as the format requires.
    """
    thin = is_thin(span.read(0, len(MAGIC)))
    names = b""
    position = len(MAGIC)
    while position < span.size:
        header = span.read(position, _HEADER_BYTES)
        size_text = header[48:58].rstrip(b" ")
        if header[58:60] != _HEADER_END or not size_text.isdigit():
            raise LeftOut(Kind.UNREADABLE_OBJECT, f"is an archive whose member at {position} has a broken header")
        size = int(size_text)
        start = position + _HEADER_BYTES
        field = header[:16].rstrip(b" ")
        if field == b"//":
            names = span.read(start, size)
        in_file = not thin or field in _TABLES
        name, skipped = _name(field, span, start, size, names)
        if b"\0" in name:
            raise LeftOut(Kind.UNREADABLE_OBJECT, f"is an archive whose member at {position} has a NUL in its name")
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
            raise LeftOut(Kind.UNREADABLE_OBJECT, "is an archive with a name longer than its member")
        return span.read(start, length).rstrip(b"\0"), length
    if field.startswith(b"/") and field[1:].isdigit():  # GNU: the name stands in the member called `//`.
        offset = int(field[1:])
        if offset >= len(names):
            reason = f"is an archive with a name at {offset}, behind its {len(names)} bytes of names"
            raise LeftOut(Kind.UNREADABLE_OBJECT, reason)
        end = names.find(b"\n", offset)
        name = names[offset : end if end >= 0 else len(names)]
        return name.partition(b"\0")[0].removesuffix(b"/"), 0
    return (field if field in _TABLES else field.removesuffix(b"/")), 0
