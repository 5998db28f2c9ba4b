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
# The ELF header behind its first 16 bytes, by whether the file is of 64 bit.
_HEADER = {True: "HHIQQQIHHHHHH", False: "HHIIIIIHHHHHH"}


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


def without_file_offsets(content: bytes) -> tuple | None:
    """All of an object but where in the file its parts lie, for comparison: that depends on what else the file had.

    Returns: the ELF header without the place of the table, and of each section its header without its place and its content;
      None when `content` is no ELF object with sections, or is damaged.
    """
    try:
        found = _section_headers(content)
        if found is None:
            return None
        entries = found[2]
        header = list(struct.unpack_from(("<" if content[5] == 1 else ">") + _HEADER[content[4] == 2], content, 16))
        header[5] = 0
        return (
            content[:16],
            tuple(header),
            tuple((*fields[:4], *fields[5:], _body(content, fields)) for fields in entries),
        )
    except (struct.error, IndexError):
        return None


def _section_headers(content: bytes) -> tuple[struct.Struct, int, list[tuple[int, ...]]] | None:
    """How a section header is packed, where the first one lies, and all of them; None: this is no ELF object, or has no section."""
    if not content.startswith(MAGIC) or content[4] not in (1, 2) or content[5] not in (1, 2):
        return None
    order, wide = "<" if content[5] == 1 else ">", content[4] == 2
    header = struct.unpack_from(order + _HEADER[wide], content, 16)
    table, count = header[5], header[11]
    if table == 0:
        return None
    entry = struct.Struct(order + ("IIQQQQIIQQ" if wide else "IIIIIIIIII"))
    # Above 65,279 sections the number stands in the first header.
    count = count or entry.unpack_from(content, table)[5]
    return entry, table, [entry.unpack_from(content, table + index * entry.size) for index in range(count)]


def _parse(content: bytes) -> ElfObject | None:
    if not content.startswith(MAGIC) or content[4] not in (1, 2) or content[5] not in (1, 2):
        return None
    order, wide = "<" if content[5] == 1 else ">", content[4] == 2
    place = _section_headers(content)
    if place is None:
        return ElfObject((), ())
    entries = place[2]
    names_index = struct.unpack_from(order + _HEADER[wide], content, 16)[12]
    # The index too stands there then.
    names_index = entries[0][6] if names_index == _SHN_XINDEX else names_index
    names = _body(content, entries[names_index])
    sections = tuple(
        Section(_string(names, fields[0]), fields[1], fields[2], fields[5], _body(content, fields))
        for fields in entries
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
