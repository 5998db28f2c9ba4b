"""What a linker reads of an ELF object: sections, relocations by what they point at, and global symbols.

Names of local symbols are no part of it: clang numbers them (`.Lswitch.table.f.20`) by what else it has named before.
"""

import dataclasses
import re
from collections.abc import Collection, Sequence

from mlgo.corpus import elf
from mlgo.corpus.elf import ElfError, ElfFile, Symbol

_ET_REL, _EM_MIPS = 1, 8
# A list of symbols, by their numbers (llvm/BinaryFormat/ELF.h).
_SHT_LLVM_ADDRSIG = 0x6FFF4C03
_SHF_INFO_LINK = 0x40
_STB_LOCAL = 0
#: Sections that are compared through what refers to them.
_TABLES = frozenset((elf.SHT_SYMTAB, elf.SHT_SYMTAB_SHNDX, elf.SHT_STRTAB, elf.SHT_RELA, elf.SHT_REL))
#: The number that LLVM appends to a name that is taken (llvm/lib/IR/ValueSymbolTable.cpp).
_NUMBERING = re.compile(r"\.\d+(?=\.|$)")
#: Begin of private labels, which LLVM appends to the name of a section with -fdata-sections: ".rodata" + ".".
_PRIVATE = "..L"

#: Where a symbol points: ("global", name), or ("local", kind, section, value); or how a number has no meaning.
Target = tuple


@dataclasses.dataclass(frozen=True)
class Part:
    """A section as the linker takes it.

    Attributes:
      name: without the number of a local symbol in it.
      fields: kind, flags, address, size, alignment, entry size, and the sections or symbols that link and info name.
      content: bytes; of a group its flag and members, of a list of symbols the set of what they point at.
      relocations: (offset, type, addend, target) in their order; addend None: it stands in the content.
    """

    name: str
    fields: tuple
    content: bytes | tuple | frozenset
    relocations: tuple


@dataclasses.dataclass(frozen=True)
class LinkedObject:
    """An object as the linker takes it. Two are equal where the linker reads the same of them.

    Attributes:
      header: class, byte order, machine, flags.
      symbols: the global ones in their order, then the sorted local ones without their names.
      names: of its local symbols and the sections that are named after them, which do not count.
    """

    header: tuple
    parts: tuple[Part, ...]
    symbols: tuple
    names: frozenset[str] = dataclasses.field(compare=False)


def linked_object(content: bytes, without: Collection[str]) -> LinkedObject | None:
    """What a linker reads of the object `content`.

    Args: without: names of sections that do not count, with their symbols.
    Returns: None: it is no relocatable ELF object, is damaged, or is of a machine with relocations of another form.
    """
    try:
        file = ElfFile.of_bytes(content)
        if file.kind != _ET_REL or file.header[2] == _EM_MIPS:
            return None
        return _Reader(file, without).read()
    except ElfError:
        return None


class _Reader:
    def __init__(self, file: ElfFile, without: Collection[str]):
        self._file = file
        self._names = file.names()
        kept = [
            index
            for index, section in enumerate(file.sections)
            if index and section.kind not in _TABLES and self._names[index] not in without
        ]
        #: Index of a section -> its place among those that count.
        self._places = {index: place for place, index in enumerate(kept)}
        self._symbols = list(file.named_symbols())
        tables = [index for index, section in enumerate(file.sections) if section.kind == elf.SHT_SYMTAB]
        self._symbol_table = tables[0] if tables else 0

    def read(self) -> LinkedObject:
        relocations: dict[int, list] = {}
        for section in self._file.sections:
            if section.kind in (elf.SHT_REL, elf.SHT_RELA):
                of_section = relocations.setdefault(section.info, [])
                of_section += [
                    (offset, kind, addend, self._target(symbol))
                    for offset, kind, addend, symbol in self._file.relocations(section)
                ]
        ident, *header = self._file.header
        labels = self._labels()
        parts = tuple(self._part(index, relocations.get(index, ()), labels.get(index, ())) for index in self._places)
        own = [(name, symbol) for name, symbol in self._symbols[1:] if self._counts(symbol)]
        symbols = tuple(
            (name, symbol.binding, *self._described(symbol)) for name, symbol in own if symbol.binding != _STB_LOCAL
        )
        local = tuple(sorted(self._described(symbol) for _, symbol in own if symbol.binding == _STB_LOCAL))
        names = {name for name, symbol in own if symbol.binding == _STB_LOCAL}
        names |= {self._names[index] for index, part in zip(self._places, parts) if part.name != self._names[index]}
        # The number of sections and that of their names count the tables too.
        return LinkedObject((ident, *header[:-2]), parts, (symbols, local), frozenset(names))

    def _labels(self) -> dict[int, list[str]]:
        """Section -> names of the local functions and variables in it."""
        found: dict[int, list[str]] = {}
        for name, symbol in self._symbols:
            if symbol.binding == _STB_LOCAL and symbol.section and symbol.kind not in (elf.STT_SECTION, elf.STT_FILE):
                found.setdefault(symbol.section, []).append(name)
        return found

    def _part(self, index: int, relocations: Sequence[tuple], labels: Sequence[str]) -> Part:
        section = self._file.sections[index]
        own = self._file.content(section)
        content: bytes | tuple | frozenset = own
        info: object = self._place(section.info) if section.flags & _SHF_INFO_LINK else section.info
        if section.kind == elf.SHT_GROUP:
            flag, *members = self._file.words(section) or (0,)
            content = (flag, *map(self._member, members))
            info = self._target(section.info)
        elif section.kind == _SHT_LLVM_ADDRSIG:
            content = frozenset(self._target(number) for number in _uleb128(own))
        # Sizes of both kinds follow from numbers of sections and symbols.
        size = section.size if isinstance(content, bytes) else 0
        fields = (section.kind, section.flags, section.address, size, section.alignment, section.entry_size)
        name = without_numbering(self._names[index], labels)
        return Part(name, (*fields, self._place(section.link), info), content, tuple(relocations))

    def _member(self, index: int) -> object:
        section = self._file.section(index)
        is_table = section.kind in (elf.SHT_REL, elf.SHT_RELA)
        return ("relocations", self._place(section.info)) if is_table else self._place(index)

    def _place(self, index: int) -> int | str:
        """A section by its place; -1: none or one that does not count."""
        return "symbols" if index and index == self._symbol_table else self._places.get(index, -1)

    def _counts(self, symbol: Symbol) -> bool:
        return not symbol.section or symbol.section in self._places

    def _described(self, symbol: Symbol) -> tuple:
        place = self._places.get(symbol.section, -1)
        return (symbol.kind, symbol.other, symbol.reserved, place, symbol.value, symbol.size)

    def _target(self, number: int) -> Target:
        if number >= len(self._symbols):
            raise ElfError(f"refers to symbol {number} of {len(self._symbols)}")
        name, symbol = self._symbols[number]
        if symbol.binding != _STB_LOCAL:
            return ("global", name)
        return ("local", *self._described(symbol))


def without_numbering(name: str, labels: Sequence[str]) -> str:
    """A section's name without the numbers in the name of the local symbol that it ends with."""
    at = name.find(_PRIVATE)
    if at < 0:
        ends = [len(name) - len(label) - 1 for label in labels if name.endswith(f".{label}")]
        at = min(ends, default=-1)
    return name if at < 0 else name[: at + 1] + _NUMBERING.sub("", name[at + 1 :])


def _uleb128(content: bytes) -> list[int]:
    """Numbers of seven bits a byte, least significant first. Raises: ElfError: the last one is cut off."""
    numbers, value, shift = [], 0, 0
    for byte in content:
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            numbers.append(value)
            value = shift = 0
    if shift:
        raise ElfError("is cut off: a list of symbols ends within a number")
    return numbers
