"""Sections of Mach-O object files by `segment,section`, 32 and 64 bit, either byte order (Apple's mach-o/loader.h)."""

import struct
from collections.abc import Collection

from mlgo.corpus.extraction.outcome import Kind, LeftOut
from mlgo.corpus.extraction.span import Span

#: First four bytes → byte order and whether it is the 64 bit form.
MAGICS = {
    b"\xce\xfa\xed\xfe": ("<", False),
    b"\xcf\xfa\xed\xfe": ("<", True),
    b"\xfe\xed\xfa\xce": (">", False),
    b"\xfe\xed\xfa\xcf": (">", True),
}
#: A universal binary: several architectures in one file.
UNIVERSAL_MAGICS = (b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf")

_OBJECT = 1  # MH_OBJECT
_SEGMENT, _SEGMENT_64 = 0x1, 0x19  # LC_SEGMENT, LC_SEGMENT_64
_ZERO_FILL = frozenset({0x1, 0xC, 0x12})  # S_ZEROFILL, S_GB_ZEROFILL, S_THREAD_LOCAL_ZEROFILL


def sections(span: Span, wanted: Collection[bytes]) -> dict[bytes, bytes]:
    """The first section of each wanted name (b"__LLVM,__bitcode") that there is.

    Raises: LeftOut: the file is not as Mach-O requires.
    """
    order, wide = MAGICS[span.read(0, 4)]
    header_size = 32 if wide else 28
    kind, command_count, commands_size = struct.unpack_from(order + "III", span.read(0, header_size), 12)
    if kind != _OBJECT:
        raise LeftOut(Kind.NO_OBJECT, "is no object but linked: its modules are in the objects it was linked from")
    commands = span.read(header_size, commands_size)
    found: dict[bytes, bytes] = {}
    position = 0
    for _ in range(command_count):
        if position + 8 > len(commands):
            raise LeftOut(Kind.UNREADABLE_OBJECT, f"has fewer than the {command_count} load commands it announces")
        command, size = struct.unpack_from(order + "II", commands, position)
        if size < 8 or position + size > len(commands):
            raise LeftOut(Kind.UNREADABLE_OBJECT, f"has a load command of {size} bytes, which does not fit")
        if command in (_SEGMENT, _SEGMENT_64):
            _read_segment(span, commands[position : position + size], order, command == _SEGMENT_64, wanted, found)
        position += size
    return found


def _read_segment(
    span: Span, segment: bytes, order: str, wide: bool, wanted: Collection[bytes], found: dict[bytes, bytes]
) -> None:
    header_size = 72 if wide else 56
    entry = struct.Struct(order + ("16s16sQQIIIIIIII" if wide else "16s16sIIIIIIIII"))
    if len(segment) < header_size:
        raise LeftOut(Kind.UNREADABLE_OBJECT, "has a segment that is cut off")
    (count,) = struct.unpack_from(order + "I", segment, header_size - 8)
    if header_size + count * entry.size > len(segment):
        raise LeftOut(Kind.UNREADABLE_OBJECT, f"has a segment too short for its {count} sections")
    for index in range(count):
        section, in_segment, _, size, offset, _, _, _, flags, *_ = entry.unpack_from(
            segment, header_size + index * entry.size
        )
        name = in_segment.rstrip(b"\0") + b"," + section.rstrip(b"\0")
        if name in wanted and name not in found:
            found[name] = b"" if flags & 0xFF in _ZERO_FILL else span.read(offset, size)
