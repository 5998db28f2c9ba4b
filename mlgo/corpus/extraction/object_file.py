"""Reads the bitcode and the command that clang embedded in an object file (`-Xclang -fembed-bitcode=all`).

An llvm-objcopy per section would take tens of milliseconds, mostly to load LLVM's library; two sections need a few
reads.
"""

import contextlib
import dataclasses
import os
from collections.abc import Callable, Collection, Iterator

from mlgo.corpus import elf
from mlgo.corpus.extraction import archive, bitcode, coff, macho
from mlgo.corpus.extraction.outcome import Kind, LeftOut
from mlgo.corpus.extraction.span import Span
from mlgo.run.regular_file import open_regular

_WEB_ASSEMBLY = b"\0asm"
# Bitcode in the place of an object is read to its end, which takes seconds, to name its kind; larger is ThinLTO.
_MOST_BYTES = 16 << 20


@dataclasses.dataclass(frozen=True)
class SectionNames:
    """The sections that clang writes (llvm/lib/Bitcode/Writer/BitcodeWriter.cpp, embedBitcodeInModule)."""

    bitcode: str
    command: str


DEFAULT_NAMES = SectionNames(".llvmbc", ".llvmcmd")
MACH_O_NAMES = SectionNames("__LLVM,__bitcode", "__LLVM,__cmdline")


@dataclasses.dataclass(frozen=True)
class Embedded:
    """Contents of the two sections, not interpreted; None: the object has no such section."""

    bitcode: bytes | None
    command: bytes | None


@contextlib.contextmanager
def opened(path: str) -> Iterator[Span]:
    """The file at `path`.

    Raises: LeftOut: it does not exist, or is no file that can be read.
    """
    try:
        with open_regular(path) as descriptor:
            yield Span(descriptor, 0, os.fstat(descriptor).st_size)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise LeftOut(Kind.MISSING_OBJECT, "does not exist") from error
    except OSError as error:
        raise LeftOut(Kind.UNREADABLE_OBJECT, f"cannot be read: {error.strerror}") from error


def embedded(span: Span, names: SectionNames | None) -> Embedded:
    """What `span`, an object file, has embedded.

    Args:
      names: the sections to look for; None: those of the object's format.

    Raises: LeftOut: it is no object file, or a broken one.
    """
    head = span.head(32)
    if head.startswith(elf.MAGIC):
        read, default = _elf_sections, DEFAULT_NAMES
    elif head[:4] in macho.MAGICS:
        read, default = macho.sections, MACH_O_NAMES
    elif coff.is_coff(head):
        read, default = coff.sections, DEFAULT_NAMES
    else:
        raise _no_object(span, head)
    names = names or default
    wanted = {"bitcode": os.fsencode(names.bitcode), "command": os.fsencode(names.command)}
    found = read(span, set(wanted.values()))
    return Embedded(found.get(wanted["bitcode"]), found.get(wanted["command"]))


def _elf_sections(span: Span, wanted: Collection[bytes]) -> dict[bytes, bytes]:
    """The first section of each wanted name that there is. Raises: LeftOut: the file is linked, or is damaged."""
    try:
        file = elf.ElfFile(span.read)
        if file.kind in (elf.ET_EXEC, elf.ET_DYN):
            reason = "is a linked program or library: its modules are in the objects it was linked from"
            raise LeftOut(Kind.NO_OBJECT, reason)
        names = _offsets(file.section_names(), wanted)
        found: dict[bytes, bytes] = {}
        for section in file.sections:
            name = names.get(section.name)
            if name is not None and name not in found:
                if section.flags & elf.SHF_COMPRESSED:
                    reason = f"has a compressed section {name.decode('ascii', 'replace')}"
                    raise LeftOut(Kind.UNREADABLE_OBJECT, reason)
                found[name] = file.content(section)
        return found
    except elf.ElfError as error:
        raise LeftOut(Kind.UNREADABLE_OBJECT, str(error)) from error


def _offsets(names: bytes, wanted: Collection[bytes]) -> dict[int, bytes]:
    """Offset in the string table → the wanted name that starts there. Searching beats decoding thousands of names."""
    found = {}
    for name in wanted:
        position = names.find(name + b"\0")
        while position >= 0:
            found[position] = name
            position = names.find(name + b"\0", position + 1)
    return found


def reader(names: SectionNames | None) -> Callable[..., Embedded]:
    """A SectionReader that reads sections in this process."""
    return lambda span, found: embedded(span, names)


def _no_object(span: Span, head: bytes) -> LeftOut:
    if bitcode.is_bitcode(head):
        large = span.size > _MOST_BYTES
        return _bitcode_file(bitcode.THIN if large else bitcode.lto_kind(span.read(0, span.size)))
    if head[:4] in macho.UNIVERSAL_MAGICS:
        return LeftOut(Kind.UNREADABLE_OBJECT, "is a universal binary: take one architecture out with llvm-lipo -thin")
    if archive.is_archive(head):
        return LeftOut(Kind.UNREADABLE_OBJECT, "is an archive where an object should be")
    if not head:
        return LeftOut(Kind.EMPTY_FILE, "is empty")
    if head.startswith(_WEB_ASSEMBLY):
        return LeftOut(Kind.WEB_ASSEMBLY, "is a WebAssembly object")
    return LeftOut(Kind.UNREADABLE_OBJECT, "is neither ELF nor COFF nor Mach-O")


def _bitcode_file(lto: str | None) -> LeftOut:
    if lto is None:
        return LeftOut(Kind.BITCODE_FILE, "is bitcode itself, as -emit-llvm makes it")
    kind = Kind.LTO_OBJECT if lto == bitcode.THIN else Kind.FULL_LTO_OBJECT
    return LeftOut(kind, f"is bitcode itself, as -flto={lto} makes it")
