"""Reads archives of objects (`ar`): GNU's format with long names, and thin archives."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import NamedTuple

_MAGIC, _THIN = b"!<arch>\n", b"!<thin>\n"
_HEADER_BYTES = 60


class Member(NamedTuple):
    """A member: its name without folders, and its content."""

    name: str
    content: bytes


def is_archive(path: pathlib.Path) -> bool:
    """Whether the file is an archive."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_MAGIC)) in (_MAGIC, _THIN)
    except OSError:
        return False


def members_of(path: pathlib.Path) -> list[Member]:
    """The objects in an archive, in its order; fewer where it is cut off or a file of a thin one is gone."""
    return list(_members(path))


def _members(path: pathlib.Path) -> Iterator[Member]:
    data = path.read_bytes()
    is_thin = data.startswith(_THIN)
    place, names = len(_MAGIC), b""
    while place + _HEADER_BYTES <= len(data):
        header = data[place : place + _HEADER_BYTES]
        place += _HEADER_BYTES
        name, size_text = header[:16].rstrip(), header[48:58].strip()
        if not size_text.isdigit():
            return
        size = int(size_text)
        is_table = name in (b"/", b"//", b"/SYM64/")
        content = b"" if is_thin and not is_table else data[place : place + size]
        place += 0 if is_thin and not is_table else size + size % 2
        if place > len(data) + 1:
            return
        if name == b"//":
            names = content
        if is_table:
            continue
        if name.startswith(b"/") and name[1:].isdigit():
            name = names[int(name[1:]) :].split(b"\n", 1)[0]
        elif name.startswith(b"#1/") and name[3:].isdigit():  # BSD's long names.
            name, content = content[: int(name[3:])].rstrip(b"\0"), content[int(name[3:]) :]
        text = name.decode("utf-8", "surrogateescape").removesuffix("/")
        if is_thin:
            try:
                content = (path.parent / text).read_bytes()
            except OSError:
                continue
        yield Member(pathlib.PurePosixPath(text).name, content)
