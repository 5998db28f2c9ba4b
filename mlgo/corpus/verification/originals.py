"""Finds the object of the original build that a module was taken from, by the module's name."""

import functools
import pathlib
import posixpath
import re
from collections.abc import Callable

from mlgo.corpus.extraction import archive, bitcode, object_file
from mlgo.corpus.extraction.outcome import LeftOut

# Extraction calls an archive's member `ARCHIVE(MEMBER)`, or as lld does `ARCHIVE(MEMBER at OFFSET)` among namesakes.
_MEMBER = re.compile(r"(?P<archive>.+)\((?P<member>[^()]+?)( at (?P<header>\d+))?\)", re.DOTALL)


def original_object(directory: pathlib.Path, name: str) -> bytes | None:
    """The native object of module `name` below `directory`; None: there is none.

    Extraction names modules after their objects. In a local ThinLTO build that object is bitcode; the linker's native one
    lies beside it when it was linked with --save-temps=prelink: a.out.lto.NAME.o for NAME.o, and for an archive's member
    a.out.lto.ARCHIVE(MEMBER at N).o (lld/ELF/LTO.cpp, BitcodeCompiler::compile).
    """
    place = directory / name
    content = place.read_bytes() if place.is_file() else _member(directory, name)
    if content is not None and not bitcode.is_bitcode(content):
        return content
    folder, last = posixpath.split(name)
    stem = last if last.endswith(")") else posixpath.splitext(last)[0]
    beside = directory / folder
    if not beside.is_dir():
        return None
    ending = f".lto.{stem}.o"
    # Several programs may have been linked of one object; which of them, the module's name does not tell.
    found = [path for path in beside.iterdir() if path.name.endswith(ending) and path.is_file()]
    return found[0].read_bytes() if len(found) == 1 else None


def finder(directory: pathlib.Path) -> Callable[[str], bytes | None]:
    """`original_object` of one directory."""
    return functools.partial(original_object, directory)


def _member(directory: pathlib.Path, name: str) -> bytes | None:
    parts = _MEMBER.fullmatch(name)
    if parts is None or not (directory / parts["archive"]).is_file():
        return None
    try:
        with object_file.opened(str(directory / parts["archive"])) as span:
            if not archive.is_archive(span.head(len(archive.MAGIC))):
                return None
            for member in archive.members(span):
                if member.name == parts["member"] and parts["header"] in (None, str(member.header)):
                    return span.read(member.start, member.size)
    except LeftOut:
        return None
    return None
