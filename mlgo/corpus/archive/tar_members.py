"""Finds the members of a tar archive: ustar, GNU and pax (POSIX.1-2001), strictly.

Python's tarfile ends silently at the first header it does not understand; here that is an error, since what follows may be half
of a corpus.
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

from mlgo.corpus.archive.source import COPY_IT_AGAIN, Source
from mlgo.corpus.error import CorpusError

_BLOCK = 512
_ZEROS = b"\0" * _BLOCK
#: Names and pax records of more than this are no corpus's.
_MAX_EXTENSION_BYTES = 1024 * 1024

_REGULAR, _HARD_LINK, _FOLDER = b"0\0007", b"1", b"5"
_GNU_NAME, _GNU_LINK, _PAX, _PAX_GLOBAL = b"L", b"K", b"x", b"g"
_REFUSED = {
    b"2": "a symbolic link (pack it with tar --dereference)",
    b"3": "a device",
    b"4": "a device",
    b"6": "a pipe",
    b"S": "a sparse file (pack it without --sparse)",
}


class TarMember(NamedTuple):
    """Where the content of a file lies in the uncompressed archive, in bytes."""

    offset: int
    size: int


def tar_members(source: Source, shown: str) -> Iterator[tuple[str, TarMember | str]]:
    """Name and place of each file, in the archive's order; a hard link comes with the name it stands for instead.

    Args: shown: how messages call the archive.
    Raises: CorpusError: the archive is truncated or damaged, or has a member which is neither file, hard link nor folder.
    """
    offset = 0
    extended: dict[str, bytes] = {}
    while True:
        header = source.read_at(offset, _BLOCK)
        if len(header) < _BLOCK:
            raise CorpusError(
                shown, f"is truncated: it ends at byte {offset + len(header)} without an end mark", COPY_IT_AGAIN
            )
        if header == _ZEROS:
            return
        _check(header, offset, shown)
        kind = header[156:157]
        size = _size(header[124:136], offset, shown)
        offset += _BLOCK
        if kind in (_GNU_NAME, _GNU_LINK, _PAX, _PAX_GLOBAL):
            extension = _extension(source, offset, size, shown)
            if kind == _PAX:
                extended.update(_pax_records(extension, shown))
            elif kind != _PAX_GLOBAL:
                extended["path" if kind == _GNU_NAME else "linkpath"] = extension.rstrip(b"\0")
            elif {"path", "linkpath", "size"} & _pax_records(extension, shown).keys():
                raise CorpusError(shown, "gives one name or size to all members (a global pax header)", "pack it anew")
            offset += _padded(size)
            continue
        name = os.fsdecode(extended.get("path") or _name(header))
        if "size" in extended:
            size = _decimal(extended["size"], shown)
        if kind in _REFUSED or any(key.startswith("GNU.sparse") for key in extended):
            raise CorpusError(
                f"{shown}: member {name!r}", f"is {_REFUSED.get(kind, _REFUSED[b'S'])}", "pack only files"
            )
        if kind == _HARD_LINK and size == 0:
            yield name, os.fsdecode(extended.get("linkpath") or _text(header[157:257]))
        elif kind in _REGULAR and not (kind == b"\0" and name.endswith("/")):
            yield name, TarMember(offset, size)
        elif kind not in _REGULAR and kind != _FOLDER:
            raise CorpusError(f"{shown}: member {name!r}", f"is of the unknown kind {kind!r}", "pack only files")
        extended = {}
        offset += _padded(0 if kind == _FOLDER else size)


def _check(header: bytes, offset: int, shown: str) -> None:
    stated = header[148:156].strip(b" \0")
    actual = sum(header) - sum(header[148:156]) + 8 * ord(" ")
    if not stated.isdigit() or any(digit > ord("7") for digit in stated) or int(stated, 8) != actual:
        raise CorpusError(shown, f"is damaged: at byte {offset} there is no header of a member", COPY_IT_AGAIN)


def _size(field: bytes, offset: int, shown: str) -> int:
    if field[0] == 0x80:  # GNU's way to write 8 GiB and more
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b" \0")
    if digits and (not digits.isdigit() or any(digit > ord("7") for digit in digits)):
        raise CorpusError(shown, f"is damaged: the member at byte {offset} has the size {digits!r}", COPY_IT_AGAIN)
    return int(digits or b"0", 8)


def _name(header: bytes) -> bytes:
    prefix = _text(header[345:500]) if header[257:263] == b"ustar\0" else b""
    return prefix + b"/" + _text(header[:100]) if prefix else _text(header[:100])


def _text(field: bytes) -> bytes:
    return field.split(b"\0", 1)[0]


def _extension(source: Source, offset: int, size: int, shown: str) -> bytes:
    if size > _MAX_EXTENSION_BYTES:
        raise CorpusError(shown, f"has a name or header of {size} bytes at byte {offset}", COPY_IT_AGAIN)
    return source.read_at(offset, size)


def _pax_records(content: bytes, shown: str) -> dict[str, bytes]:
    """The records `LENGTH KEY=VALUE\\n`, LENGTH in bytes and of the whole record."""
    records = {}
    while content:
        length, space, _ = content.partition(b" ")
        end = int(length) if length.isdigit() and len(length) < 8 else 0
        record = content[len(length) + 1 : end]
        key, equals, value = record.partition(b"=")
        if not (space and equals and record.endswith(b"\n")) or end > len(content):
            raise CorpusError(shown, "is damaged: a pax header is not made of records", COPY_IT_AGAIN)
        records[key.decode("utf-8", "surrogateescape")] = value[:-1]
        content = content[end:]
    return records


def _decimal(value: bytes, shown: str) -> int:
    if not value.isdigit() or len(value) > 18:
        raise CorpusError(shown, f"is damaged: a pax header gives the size {value[:40]!r}", COPY_IT_AGAIN)
    return int(value)


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK
