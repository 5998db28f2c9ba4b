"""Finds and reads the members of a zip archive.

The standard library reads the list of members; their content is read here, at its place, so that threads and forked processes
need no common position in the file.
"""

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from mlgo.corpus.archive.source import COPY_IT_AGAIN, MAX_RATIO, MAX_RATIO_FREE_BYTES, PlainSource
from mlgo.corpus.error import CorpusError

_LOCAL_HEADER_BYTES = 30
_ENCRYPTED = 1


class ZipMember(NamedTuple):
    """Where a member lies: offset of its local header, bytes in the archive and unpacked, method and CRC-32 of the content."""

    offset: int
    packed: int
    size: int
    method: int
    crc: int


def zip_members(plain: PlainSource) -> Iterator[tuple[str, ZipMember]]:
    """Name and place of each file, in the archive's order.

    Raises: CorpusError: the archive is truncated or damaged, holds absurdly much, or has a member that is no plain file.
    """
    shown = str(plain.path)
    try:
        with zipfile.ZipFile(plain.path) as archive:
            infos = archive.infolist()
            end = archive.start_dir
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, struct.error) as error:
        raise CorpusError(shown, f"is no whole zip archive: {error}", COPY_IT_AGAIN) from error
    total = sum(info.file_size for info in infos)
    if total > MAX_RATIO_FREE_BYTES + MAX_RATIO * plain.size:
        raise CorpusError(
            shown,
            f"says that it holds {total} bytes, more than {MAX_RATIO} times its own size",
            "that is no corpus; unpack it by hand if you trust it",
        )
    for info in sorted(infos, key=lambda info: info.header_offset, reverse=True):
        if info.header_offset < 0 or info.header_offset + _LOCAL_HEADER_BYTES + info.compress_size > end:
            raise CorpusError(f"{shown}: member {info.filename!r}", "overlaps another one", "pack the corpus anew")
        end = info.header_offset
    for info in infos:
        if info.is_dir():
            continue
        if reason := _refusal(info):
            raise CorpusError(f"{shown}: member {info.filename!r}", reason, "pack only files, stored or deflated")
        yield (
            _name(info),
            ZipMember(info.header_offset, info.compress_size, info.file_size, info.compress_type, info.CRC),
        )


def read_zip_member(plain: PlainSource, member: ZipMember, shown: str) -> bytes:
    """The content of a member.

    Args: shown: how messages call the member.
    Raises: CorpusError: it is damaged.
    """
    header = plain.read_at(member.offset, _LOCAL_HEADER_BYTES)
    if len(header) < _LOCAL_HEADER_BYTES or header[:4] != b"PK\3\4":
        raise CorpusError(shown, f"is damaged: it has no header at byte {member.offset}", COPY_IT_AGAIN)
    name_length, extra_length = struct.unpack("<HH", header[26:30])
    content = plain.read_at(member.offset + _LOCAL_HEADER_BYTES + name_length + extra_length, member.packed)
    if member.method == zipfile.ZIP_DEFLATED:
        try:
            # One byte more than announced, to notice content that is longer without holding all of it.
            content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(content, member.size + 1)
        except zlib.error as error:
            raise CorpusError(shown, f"is damaged: {error}", COPY_IT_AGAIN) from error
    if len(content) != member.size or zlib.crc32(content) != member.crc:
        raise CorpusError(
            shown, "is damaged: it has another length or checksum than the archive's list says", COPY_IT_AGAIN
        )
    return content


def _refusal(info: zipfile.ZipInfo) -> str | None:
    mode = info.external_attr >> 16
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "is a link or a device"
    if info.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"is packed by method {info.compress_type}"
    if "\0" in info.orig_filename:
        return "has a NUL in its name"
    return None


def _name(info: zipfile.ZipInfo) -> str:
    # Names that are not marked as UTF-8 are in code page 437 by the standard; packers on Unix put the file's bytes there.
    if info.flag_bits & 0x800:
        return info.filename
    return os.fsdecode(info.filename.encode("cp437"))
