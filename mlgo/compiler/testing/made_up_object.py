"""ELF objects with functions of given sizes, for tests that need sizes and no compiler."""

import struct
from collections.abc import Mapping

_HEADER_BYTES, _SECTION_BYTES = 64, 64
_PROGBITS, _SYMTAB, _STRTAB = 1, 2, 3
_ALLOC_EXECUTABLE = 2 | 4
_GLOBAL_FUNCTION = 0x12


def made_up_object(functions: Mapping[str, int]) -> bytes:
    """A relocatable x86-64 object with one section of code that holds `functions`, name -> bytes."""
    names, symbols, code_bytes = b"\0", bytes(24), 0
    for name, size in functions.items():
        symbols += struct.pack("<IBBHQQ", len(names), _GLOBAL_FUNCTION, 0, 1, code_bytes, size)
        names += name.encode("utf-8") + b"\0"
        code_bytes += size
    section_names = b"\0.text\0.symtab\0.strtab\0"
    contents = [b"\xcc" * code_bytes, symbols, names + section_names]
    offsets = [_HEADER_BYTES]
    for content in contents:
        offsets.append(offsets[-1] + len(content))
    at = len(names)
    sections = [
        (at + 1, _PROGBITS, _ALLOC_EXECUTABLE, offsets[0], len(contents[0]), 0, 0, 16, 0),
        (at + 7, _SYMTAB, 0, offsets[1], len(contents[1]), 3, 1, 8, 24),
        (at + 15, _STRTAB, 0, offsets[2], len(contents[2]), 0, 0, 1, 0),
    ]
    table = bytes(_SECTION_BYTES)
    for name_offset, kind, flags, offset, size, link, info, alignment, entry in sections:
        table += struct.pack("<IIQQQQIIQQ", name_offset, kind, flags, 0, offset, size, link, info, alignment, entry)
    header = b"\x7fELF\2\1\1" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, offsets[-1], 0, _HEADER_BYTES, 0, 0, _SECTION_BYTES, 4, 3)
    return header + b"".join(contents) + table
