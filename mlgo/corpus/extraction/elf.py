"""Sections of ELF files by name, 32 and 64 bit, either byte order (System V ABI, chapter 4)."""

import struct
from collections.abc import Collection

from mlgo.corpus.extraction.outcome import Kind, LeftOut
from mlgo.corpus.extraction.span import Span

MAGIC = b"\x7fELF"

_EXTENDED_INDEX = 0xFFFF  # SHN_XINDEX: the real index stands in the first section header.
_LINKED = (2, 3)  # ET_EXEC, ET_DYN
_NO_BITS = 8  # SHT_NOBITS
_COMPRESSED = 0x800  # SHF_COMPRESSED


def sections(span: Span, wanted: Collection[bytes]) -> dict[bytes, bytes]:
    """The first section of each wanted name that there is.

    Raises: LeftOut: the file is not as ELF requires.
    """
    ident = span.read(0, 16)
    if ident[4] not in (1, 2) or ident[5] not in (1, 2):
        raise LeftOut(
            Kind.UNREADABLE_OBJECT, f"is ELF of class {ident[4]} and byte order {ident[5]}, which do not exist"
        )
    order = "<" if ident[5] == 1 else ">"
    wide = ident[4] == 2
    header = struct.Struct(order + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"))
    entry = struct.Struct(order + ("IIQQQQIIQQ" if wide else "IIIIIIIIII"))
    kind, *_, table_offset, _, _, _, _, entry_size, count, names_index = header.unpack(span.read(16, header.size))
    if kind in _LINKED:
        raise LeftOut(
            Kind.NO_OBJECT, "is a linked program or library: its modules are in the objects it was linked from"
        )
    if table_offset == 0:
        return {}
    if entry_size != entry.size:
        raise LeftOut(Kind.UNREADABLE_OBJECT, f"has section headers of {entry_size} bytes instead of {entry.size}")
    first = entry.unpack(span.read(table_offset, entry.size))
    # Above 65,279 sections (-ffunction-sections gets there) both numbers move into the first header.
    count = count or first[5]
    names_index = first[6] if names_index == _EXTENDED_INDEX else names_index
    if names_index >= count:
        raise LeftOut(Kind.UNREADABLE_OBJECT, f"has its section names in section {names_index} of {count}")
    table = span.read(table_offset, count * entry.size)
    names_entry = entry.unpack_from(table, names_index * entry.size)
    by_offset = _offsets(span.read(names_entry[4], names_entry[5]), wanted)
    found: dict[bytes, bytes] = {}
    for fields in entry.iter_unpack(table):
        name = by_offset.get(fields[0])
        if name is not None and name not in found:
            if fields[2] & _COMPRESSED:
                raise LeftOut(Kind.UNREADABLE_OBJECT, f"has a compressed section {name.decode('ascii', 'replace')}")
            found[name] = b"" if fields[1] == _NO_BITS else span.read(fields[4], fields[5])
    return found


def _offsets(names: bytes, wanted: Collection[bytes]) -> dict[int, bytes]:
    """Offset in the string table → the wanted name that starts there. Searching beats decoding thousands of names."""
    found = {}
    for name in wanted:
        position = names.find(name + b"\0")
        while position >= 0:
            found[position] = name
            position = names.find(name + b"\0", position + 1)
    return found
