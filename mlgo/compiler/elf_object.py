"""Sections and symbols of an ELF object in memory, as far as comparing objects and finding empty ones needs them.

Corpora are read from objects elsewhere (mlgo/corpus/extraction), without loading them.
"""

import dataclasses
import struct

MAGIC = b"\x7fELF"

_SHT_SYMTAB, _SHT_NOBITS = 2, 8
_SHF_ALLOC = 2
_SHN_UNDEF, _SHN_XINDEX = 0, 0xFFFF
_STT_SECTION, _STT_FILE = 3, 4


@dataclasses.dataclass(frozen=True)
class Section:
    """A section; `content` of one without bits in the file (.bss) is empty, `size` is what it takes in memory."""

    name: str
    kind: int
    flags: int
    size: int
    content: bytes

    @property
    def in_memory(self) -> bool:
        return bool(self.flags & _SHF_ALLOC) and self.size > 0


@dataclasses.dataclass(frozen=True)
class ElfObject:
    """What is compared: sections in their order, and the names of symbols that are defined, sorted."""

    sections: tuple[Section, ...]
    defined: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing of it would get into a program."""
        return not self.defined and not any(section.in_memory for section in self.sections)


def parse(content: bytes) -> ElfObject | None:
    """The object in `content`, or None when it is not ELF or is damaged."""
    try:
        return _parse(content)
    except (struct.error, IndexError, ValueError, OverflowError):
        return None


def _parse(content: bytes) -> ElfObject | None:
    if not content.startswith(MAGIC) or content[4] not in (1, 2) or content[5] not in (1, 2):
        return None
    order, wide = "<" if content[5] == 1 else ">", content[4] == 2
    header = struct.unpack_from(order + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"), content, 16)
    table, count, names_index = header[5], header[11], header[12]
    entry = struct.Struct(order + ("IIQQQQIIQQ" if wide else "IIIIIIIIII"))
    if table == 0:
        return ElfObject((), ())
    first = entry.unpack_from(content, table)
    # Above 65,279 sections both numbers stand in the first header.
    count = count or first[5]
    names_index = first[6] if names_index == _SHN_XINDEX else names_index
    entries = [entry.unpack_from(content, table + index * entry.size) for index in range(count)]
    names = _body(content, entries[names_index])
    sections = tuple(
        Section(_string(names, fields[0]), fields[1], fields[2], fields[5], _body(content, fields)) for fields in entries
    )
    defined: set[str] = set()
    for fields in entries:
        if fields[1] == _SHT_SYMTAB:
            defined |= _defined(_body(content, fields), _body(content, entries[fields[6]]), order, wide)
    return ElfObject(sections, tuple(sorted(defined)))


def _body(content: bytes, fields: tuple[int, ...]) -> bytes:
    return b"" if fields[1] == _SHT_NOBITS else content[fields[4] : fields[4] + fields[5]]


def _defined(table: bytes, strings: bytes, order: str, wide: bool) -> set[str]:
    symbol = struct.Struct(order + ("IBBHQQ" if wide else "IIIBBH"))
    found = set()
    for fields in symbol.iter_unpack(table):
        information, place = (fields[1], fields[3]) if wide else (fields[3], fields[5])
        if place != _SHN_UNDEF and information & 15 not in (_STT_SECTION, _STT_FILE):
            found.add(_string(strings, fields[0]))
    return found


def _string(strings: bytes, offset: int) -> str:
    return strings[offset : strings.index(b"\0", offset)].decode("utf-8", "surrogateescape")
