"""Finds the original object of a module by the module's name."""

import contextlib
import functools
import os
import pathlib
import posixpath
import re
from collections.abc import Callable

from mlgo.compiler.request import CompileLimits
from mlgo.corpus import bitcode
from mlgo.corpus.extraction import archive, object_file
from mlgo.corpus.extraction.outcome import LeftOut
from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import read_file

_MOST_BYTES = CompileLimits.object_bytes


def original_object(directory: pathlib.Path, name: str) -> bytes | None:
    """The native object of module `name` below `directory`; None: there is none.

    Extraction names modules after their objects. In a local ThinLTO build that object is bitcode. With
    --save-temps=prelink the linker's native object is beside it: a.out.lto.NAME.o for NAME.o, a.out.lto.ARCHIVE(MEMBER
    at N).o for an archive's member (lld/ELF/LTO.cpp, BitcodeCompiler::compile).
    """
    place = directory / name
    content = _read(place) if os.path.isfile(place) else _member(directory, name)
    if content is not None and not bitcode.is_bitcode(content):
        return content
    folder, last = posixpath.split(name)
    stem = last if last.endswith(")") else posixpath.splitext(last)[0]
    beside = directory / folder
    if not os.path.isdir(beside):
        return None
    ending = f".lto.{stem}.o"
    # One object may be part of several programs; the module's name does not identify the program.
    found = [path for path in beside.iterdir() if path.name.endswith(ending) and path.is_file()]
    return _read(found[0]) if len(found) == 1 else None


def _read(path: pathlib.Path) -> bytes:
    """Raises: RunError: the file cannot be read, or is larger than an object may be."""
    return read_file(path, _MOST_BYTES, "original object", "build it again, or leave the module out")


def finder(directory: pathlib.Path) -> Callable[[str], bytes | None]:
    """`original_object` of one directory. Raises: RunError: it is no directory."""
    if not directory.is_dir():
        remedy = "give the directory that extract_ir was given"
        raise RunError(f"--obj_base_dir={directory}", "is not a directory", remedy)
    return functools.partial(original_object, directory)


def _member(directory: pathlib.Path, name: str) -> bytes | None:
    # Archives and members may have parentheses in their names: what stands before one of them must be a file.
    for start in (match.start() for match in re.finditer(r"\(", name)):
        if name.endswith(")") and os.path.isfile(directory / name[:start]):
            return _in_archive(directory / name[:start], name[start + 1 : -1])
    return None


def _in_archive(path: pathlib.Path, label: str) -> bytes | None:
    """The member that extraction calls `label`: MEMBER, or as lld does `MEMBER at OFFSET` among namesakes."""
    with contextlib.suppress(LeftOut), object_file.opened(str(path)) as span:
        for member in archive.members(span) if archive.is_archive(span.head(len(archive.MAGIC))) else ():
            if label in (member.name, f"{member.name} at {member.header}"):
                return span.read(member.start, member.size)
    return None
