"""Sections of COFF object files by name, with long names and in the /bigobj form (Microsoft PE format; winnt.h)."""

import struct
from collections.abc import Collection

from mlgo.corpus.extraction.outcome import Kind, LeftOut
from mlgo.corpus.extraction.span import Span

#: IMAGE_FILE_MACHINE_*: i386, AMD64, ARM, ARMNT, ARM64, ARM64EC, ARM64X. They serve as COFF's magic number.
_MACHINES = frozenset({0x14C, 0x8664, 0x1C0, 0x1C4, 0xAA64, 0xA641, 0xA64E})
_BIG_CLASS_ID = bytes.fromhex("c7a1bad1eebaa94baf20faf66aa4dcb8")
_BIG_START = b"\x00\x00\xff\xff"
_HEADER = struct.Struct("<HHIIIHH")
_BIG_HEADER = struct.Struct("<HHHHI16sIIIIIII")
_SECTION = struct.Struct("<8sIIIIIIHHI")
_SYMBOL_BYTES, _BIG_SYMBOL_BYTES = 18, 20
_UNINITIALISED = 0x80  # IMAGE_SCN_CNT_UNINITIALIZED_DATA
_BASE64 = {
    character: value
    for value, character in enumerate(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
}


def is_coff(head: bytes) -> bool:
    """Whether a file that starts with these (at least 28) bytes may be a COFF object."""
    if head.startswith(_BIG_START):
        return head[12:28] == _BIG_CLASS_ID
    # The size of the optional header is 0 in objects; that keeps most files which happen to start like one out.
    return len(head) >= 20 and int.from_bytes(head[:2], "little") in _MACHINES and head[16:18] == b"\0\0"


def sections(span: Span, wanted: Collection[bytes]) -> dict[bytes, bytes]:
    """The first section of each wanted name that there is.

    Raises: LeftOut: the file is not as COFF requires.
    """
    if span.head(4) == _BIG_START:
        fields = _BIG_HEADER.unpack(span.read(0, _BIG_HEADER.size))
        count, symbols, symbol_count = fields[-3:]
        table_offset, symbol_bytes = _BIG_HEADER.size, _BIG_SYMBOL_BYTES
    else:
        _, count, _, symbols, symbol_count, optional_bytes, _ = _HEADER.unpack(span.read(0, _HEADER.size))
        table_offset, symbol_bytes = _HEADER.size + optional_bytes, _SYMBOL_BYTES
    strings = symbols + symbol_count * symbol_bytes if symbols else None
    found: dict[bytes, bytes] = {}
    for fields in _SECTION.iter_unpack(span.read(table_offset, count * _SECTION.size)):
        name = _name(fields[0], span, strings, max(map(len, wanted), default=0))
        if name in wanted and name not in found:
            _, _, _, size, offset, *_, characteristics = fields
            found[name] = b"" if characteristics & _UNINITIALISED or not offset else span.read(offset, size)
    return found


def _name(field: bytes, span: Span, strings: int | None, longest: int) -> bytes:
    """A section's name, as far as telling it from names of up to `longest` bytes needs it."""
    short = field.rstrip(b"\0")
    if not short.startswith(b"/"):
        return short
    offset = _long_name_offset(short)
    if strings is None or offset is None:
        raise LeftOut(Kind.UNREADABLE_OBJECT, f"has a section whose long name {short!r} leads nowhere")
    start = strings + offset
    text = span.read(start, min(longest + 1, max(span.size - start, 0)))
    return text.partition(b"\0")[0]


def _long_name_offset(short: bytes) -> int | None:
    digits = short[1:]
    if digits.startswith(b"/"):  # Offsets beyond 9,999,999: base 64, most significant digit first.
        value = 0
        for character in digits[1:]:
            if character not in _BASE64:
                return None
            value = value * 64 + _BASE64[character]
        return value if len(digits) > 1 else None
    return int(digits) if digits.isdigit() else None
