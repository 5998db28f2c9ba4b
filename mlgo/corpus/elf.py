"""Reads ELF files: section headers, contents and symbols, 32 and 64 bit, either byte order (System V ABI, chapter 4).

The file may be hostile: every offset and every size is checked. Only what is asked for is read.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

MAGIC = b"\x7fELF"

ET_EXEC, ET_DYN = 2, 3
SHT_SYMTAB, SHT_STRTAB, SHT_RELA, SHT_NOBITS, SHT_REL, SHT_GROUP, SHT_SYMTAB_SHNDX = 2, 3, 4, 8, 9, 17, 18
SHT_DYNSYM = 11
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR, SHF_COMPRESSED = 0x1, 0x2, 0x4, 0x800
#: A section has code that is part of the program if it has these flags.
CODE_FLAGS = SHF_ALLOC | SHF_EXECINSTR
SHF_MERGE, SHF_STRINGS, SHF_LINK_ORDER, SHF_GROUP = 0x10, 0x20, 0x80, 0x200
STT_OBJECT, STT_FUNC, STT_SECTION, STT_FILE, STT_GNU_IFUNC = 1, 2, 3, 4, 10
GRP_COMDAT = 1
DT_NEEDED, DT_RPATH, DT_RUNPATH = 1, 15, 29

_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NULL, _DT_STRTAB, _DT_STRSZ = 0, 5, 10
_SHN_UNDEF, _SHN_LORESERVE, _SHN_XINDEX = 0, 0xFF00, 0xFFFF
_STB_GLOBAL = 1


# All functions of a browser have a section each.
_MOST_SECTIONS = 1 << 21
# Bytes of all names in a table of strings: of a few that many symbols share, and times its own size.
_MOST_NAMES, _MOST_TIMES = 1 << 27, 8


class ElfError(ValueError):
    """The file is not as ELF requires. The message is a predicate: "is cut off: ..."."""


class Section(NamedTuple):
    """A section header. `name` is an offset in the table of section names."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


class Symbol(NamedTuple):
    """A symbol. `name` is an offset in the strings of the symbol table."""

    name: int
    kind: int
    is_defined: bool
    #: Index of the section that has it; 0: it is in no section, as undefined, absolute and common symbols are.
    section: int
    value: int
    size: int
    #: STB_LOCAL 0, STB_GLOBAL 1, STB_WEAK 2.
    binding: int = 0
    #: st_other, which holds the visibility.
    other: int = 0
    #: What stands in place of the index of a section, such as SHN_ABS; 0: none.
    reserved: int = 0


class Relocation(NamedTuple):
    """A relocation of a symbol, by its index in the symbol table. `addend` is None where it stands in the section."""

    offset: int
    kind: int
    addend: int | None
    symbol: int


_Item = TypeVar("_Item", Section, Symbol)


class ElfFile:
    """An ELF file. `kind` is its e_type, such as ET_EXEC; `header` has its first 16 bytes, and the fields behind them
    without the offset of the section headers. Raises: ElfError: the header or a section header is damaged."""

    def __init__(self, read: Callable[[int, int], bytes]):
        """Args: read: (offset, size) -> that part of the file; raises an error when the file ends before."""
        self._read = read
        ident = read(0, 16)
        if not ident.startswith(MAGIC):
            raise ElfError("is no ELF file")
        if ident[4] not in (1, 2) or ident[5] not in (1, 2):
            raise ElfError(f"is ELF of class {ident[4]} and byte order {ident[5]}, which do not exist")
        self._wide, self._order = ident[4] == 2, "<" if ident[5] == 1 else ">"
        header = struct.Struct(self._order + ("HHIQQQIHHHHHH" if self._wide else "HHIIIIIHHHHHH"))
        fields = header.unpack(read(16, header.size))
        self.kind, self._table, self._names_index = fields[0], fields[5], fields[12]
        self.header = (ident, *fields[:5], *fields[6:])
        self._entry = struct.Struct(self._order + ("IIQQQQIIQQ" if self._wide else "IIIIIIIIII"))
        self.sections = self._section_headers(fields[10], fields[11]) if self._table else []

    @staticmethod
    def of_bytes(content: bytes) -> ElfFile:
        """The file with this content. Raises: ElfError: see above."""

        def read(offset: int, size: int) -> bytes:
            if offset + size > len(content):
                raise ElfError(f"is cut off: bytes {offset} to {offset + size} of {len(content)} are needed")
            return content[offset : offset + size]

        return ElfFile(read)

    def _section_headers(self, entry_size: int, count: int) -> list[Section]:
        entry = self._entry
        if entry_size != entry.size:
            raise ElfError(f"has section headers of {entry_size} bytes instead of {entry.size}")
        first = Section(*entry.unpack(self._read(self._table, entry.size)))
        # Above 65,279 sections (-ffunction-sections gets there) both numbers move into the first header.
        count = count or first.size
        if count > _MOST_SECTIONS:  # A sparse file of a few bytes may have any number.
            raise ElfError(f"has {count} sections, more than the {_MOST_SECTIONS} allowed")
        self._names_index = first.link if self._names_index == _SHN_XINDEX else self._names_index
        return list(map(Section._make, entry.iter_unpack(self._read(self._table, count * entry.size))))

    def with_sections(self, content: bytes, changed: Mapping[int, Section]) -> bytes:
        """The content of this file with other section headers. Args: changed: index -> header."""
        made = bytearray(content)
        for index, section in changed.items():
            self._entry.pack_into(made, self._table + index * self._entry.size, *section)
        return bytes(made)

    def section(self, index: int) -> Section:
        """Raises: ElfError: there are fewer sections."""
        if index >= len(self.sections):
            raise ElfError(f"refers to section {index} of {len(self.sections)}")
        return self.sections[index]

    def content(self, section: Section) -> bytes:
        """The bytes of a section in the file: none for .bss. Raises: ElfError: it is cut off."""
        return b"" if section.kind == SHT_NOBITS else self._read(section.offset, section.size)

    def section_names(self) -> bytes:
        """The table that `Section.name` is an offset in. Raises: ElfError: there is none."""
        return self.content(self.section(self._names_index)) if self.sections else b""

    def names(self) -> list[str]:
        """The name of each section. Raises: ElfError: there is no table of names, or it is damaged."""
        return [name for name, _ in _named(self.section_names(), self.sections)]

    def named_symbols(self, kind: int = SHT_SYMTAB) -> Iterator[tuple[str, Symbol]]:
        """Name and symbol, of the symbol tables of `kind`. Raises: ElfError: one is damaged."""
        tables = list(self.sections_of_kind(kind))
        if len(tables) > 1:
            raise ElfError(f"has {len(tables)} tables of symbols, and ELF allows one")
        for table in tables:
            yield from _named(self.content(self.section(table.link)), self.symbols(table))

    def sections_of_kind(self, kind: int) -> Iterator[Section]:
        return (section for section in self.sections if section.kind == kind)

    def symbols(self, table: Section) -> Iterator[Symbol]:
        """The symbols of a symbol table. Raises: ElfError: it is damaged."""
        entry = struct.Struct(self._order + ("IBBHQQ" if self._wide else "IIIBBH"))
        content = self.content(table)
        fields = entry.iter_unpack(content[: len(content) // entry.size * entry.size])
        extended = self._extended_indices()
        for index, symbol in enumerate(fields):
            if self._wide:
                name, information, other, section, value, size = symbol
            else:
                name, value, size, information, other, section = symbol
            is_defined, reserved = section != _SHN_UNDEF, 0
            if section == _SHN_XINDEX:
                section = extended[index] if index < len(extended) else 0
            elif section >= _SHN_LORESERVE:
                section, reserved = 0, section
            yield Symbol(name, information & 15, is_defined, section, value, size, information >> 4, other, reserved)

    def relocations(self, table: Section) -> Iterator[Relocation]:
        """The relocations of a section of kind SHT_REL or SHT_RELA; not of MIPS, which has another form of them.
        Raises: ElfError: it is cut off."""
        word, shift = ("Q", 32) if self._wide else ("I", 8)
        entry = struct.Struct(self._order + 2 * word + (word.lower() if table.kind == SHT_RELA else ""))
        content = self.content(table)
        for offset, information, *addend in entry.iter_unpack(content[: len(content) // entry.size * entry.size]):
            kind = information & ((1 << shift) - 1)
            yield Relocation(offset, kind, addend[0] if addend else None, information >> shift)

    def dynamic_strings(self, *tags: int) -> list[str]:
        """The strings that a program or shared library has for `tags`, such as DT_NEEDED; none when it is static.

        Read through the segments, as the loader does: a program may have no sections. Raises: ElfError: it is damaged.
        """
        segments = self._segments()
        entry = struct.Struct(self._order + ("qQ" if self._wide else "iI"))
        values: list[tuple[int, int]] = []
        for kind, offset, _, size in segments:
            if kind == _PT_DYNAMIC:
                values += entry.iter_unpack(self._read(offset, size // entry.size * entry.size))
        values = list(itertools.takewhile(lambda value: value[0] != _DT_NULL, values))
        single = dict(values)
        if not {_DT_STRTAB, _DT_STRSZ} <= single.keys():
            return []
        address = single[_DT_STRTAB]
        for kind, offset, start, size in segments:
            if kind == _PT_LOAD and start <= address < start + size:
                strings = self._read(offset + address - start, single[_DT_STRSZ])
                return [string_at(strings, value) for tag, value in values if tag in tags]
        raise ElfError("has dynamic strings that no segment holds")

    def _segments(self) -> list[tuple[int, int, int, int]]:
        """(kind, offset in the file, address, bytes in the file) of each segment."""
        table, entry_size, count = self.header[5], *self.header[8:10]
        entry = struct.Struct(self._order + ("IIQQQQQQ" if self._wide else "IIIIIIII"))
        if not count:
            return []
        if entry_size != entry.size:
            raise ElfError(f"has segments of {entry_size} bytes instead of {entry.size}")
        a, b, c, d = (0, 2, 3, 5) if self._wide else (0, 1, 2, 4)
        headers = entry.iter_unpack(self._read(table, count * entry.size))
        return [(fields[a], fields[b], fields[c], fields[d]) for fields in headers]

    def defined_names(self) -> set[str]:
        """Names of the symbols that the file defines, without those of sections and source files. Raises: ElfError."""
        found = ((name, symbol) for name, symbol in self.named_symbols() if symbol.is_defined)
        return {name for name, symbol in found if symbol.kind not in (STT_SECTION, STT_FILE)}

    def _extended_indices(self) -> tuple[int, ...]:
        """Sections of symbols whose section has a number of more than 16 bits."""
        return next((self.words(section) for section in self.sections_of_kind(SHT_SYMTAB_SHNDX)), ())

    def words(self, section: Section) -> tuple[int, ...]:
        """A section's content as 32-bit numbers. Raises: ElfError: it is cut off."""
        content = self.content(section)
        return struct.unpack(f"{self._order}{len(content) // 4}I", content[: len(content) // 4 * 4])


def strong_definitions(content: bytes) -> set[str]:
    """Names of the global symbols that an object defines, without weak ones and COMDATs, which several objects may
    define; none of what is no ELF object."""
    try:
        file = ElfFile.of_bytes(content)
        grouped = {index for group in file.sections_of_kind(SHT_GROUP) for index in file.words(group)[1:]}
        return {name for name, symbol in _strong(file, SHT_SYMTAB) if symbol.section not in grouped}
    except ElfError:
        return set()


def exported_names(content: bytes) -> set[str]:
    """Names of the functions and variables that a shared library defines for others, without weak ones; none of what is
    no ELF file."""
    try:
        found = _strong(ElfFile.of_bytes(content), SHT_DYNSYM)
        return {name for name, symbol in found if symbol.kind in (STT_OBJECT, STT_FUNC, STT_GNU_IFUNC)}
    except ElfError:
        return set()


def _strong(file: ElfFile, kind: int) -> Iterator[tuple[str, Symbol]]:
    return (pair for pair in file.named_symbols(kind) if pair[1].binding == _STB_GLOBAL and pair[1].section)


def _named(strings: bytes, items: Iterable[_Item]) -> Iterator[tuple[str, _Item]]:
    """Each section or symbol with its name. Raises: ElfError: names overlap, so that all of them fill the memory."""
    left = _MOST_NAMES + _MOST_TIMES * len(strings)
    for item in items:
        name = string_at(strings, item.name)
        left -= len(name)
        if left < 0:
            raise ElfError(f"has names of more than {_MOST_TIMES} times the {len(strings)} bytes that they stand in")
        yield name, item


def string_at(strings: bytes, offset: int) -> str:
    """The string at `offset` of a string table. Raises: ElfError: it has no end."""
    end = strings.find(b"\0", offset)
    if end < 0:
        raise ElfError(f"has no string at {offset} of its {len(strings)} bytes of names")
    return strings[offset:end].decode("utf-8", "surrogateescape")
