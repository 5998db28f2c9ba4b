"""The objects in archives (`ar`), by the reader of mlgo/corpus/extraction."""

from __future__ import annotations

import pathlib
from typing import NamedTuple

from mlgo.corpus.extraction import archive
from mlgo.corpus.extraction.outcome import LeftOut
from mlgo.corpus.extraction.span import Span


class Member(NamedTuple):
    """A member: its name without folders, and its content."""

    name: str
    content: bytes


def is_archive(path: pathlib.Path) -> bool:
    """Whether the file is an archive."""
    try:
        with open(path, "rb") as file:
            return archive.is_archive(file.read(len(archive.MAGIC)))
    except OSError:
        return False


def members_of(path: pathlib.Path) -> list[Member]:
    """The objects in an archive, in its order; fewer where it is cut off or a file of a thin one is gone."""
    found: list[Member] = []
    with open(path, "rb") as file:
        span = Span(file.fileno(), 0, path.stat().st_size)
        try:
            is_thin = archive.is_thin(span.head(len(archive.THIN_MAGIC)))
            for member in archive.members(span):
                try:
                    elsewhere = path.parent / member.name
                    content = elsewhere.read_bytes() if is_thin else span.read(member.start, member.size)
                except OSError:
                    continue
                found.append(Member(pathlib.PurePosixPath(member.name).name, content))
        except LeftOut:
            pass  # What came before is whole.
    return found
