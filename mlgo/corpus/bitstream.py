"""Reads LLVM's bitstream container: numbers, records, abbreviations and the lengths of blocks.

Source of the format: llvm/docs/BitCodeFormat.rst. Only what is needed to reach records near the beginning of a block: a
block's contents are records in the caller's eyes, and nested blocks may be skipped by their length.
"""

from collections.abc import Iterator

END, SUBBLOCK, DEFINE_ABBREVIATION, UNABBREVIATED = range(4)
_FIXED, _VBR, _ARRAY, _CHAR6 = 1, 2, 3, 4
_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"
# Longer arrays are no names; a false length must not cost memory.
_MOST_ELEMENTS = 1 << 16

_MAGIC, _WRAPPER_MAGIC = b"BC\xc0\xde", b"\xde\xc0\x17\x0b"
_TOP_LEVEL_WIDTH = 2
_MODULE_BLOCK = 8

#: One operand of an abbreviation: its encoding and the width of its fields; a literal has encoding 0 and its value.
_Operand = tuple[int, int]


class Unreadable(Exception):
    """The bits are not written as LLVM writes them."""


class Bits:
    """A stream of bits, the lowest of each byte first. Attributes: place: of the next bit."""

    def __init__(self, content: bytes, place: int = 0):
        self._content, self.place = content, place

    def fixed(self, width: int) -> int:
        """A number of `width` bits."""
        first, self.place = self.place, self.place + width
        if self.place > 8 * len(self._content):
            raise Unreadable()
        word = int.from_bytes(self._content[first >> 3 : (self.place + 7) >> 3], "little")
        return (word >> (first & 7)) & ((1 << width) - 1)

    def vbr(self, width: int) -> int:
        """A number in chunks of `width` bits, of which the highest says that another follows."""
        if width < 2:
            raise Unreadable()
        value, place, more = 0, 0, True
        while more:
            chunk = self.fixed(width)
            value |= (chunk & ((1 << (width - 1)) - 1)) << place
            place, more = place + width - 1, chunk >> (width - 1) == 1
        return value

    def block_head(self) -> tuple[int, int, int]:
        """What follows SUBBLOCK: (block, width of its abbreviations, place behind its end)."""
        block, width = self.vbr(8), self.vbr(4)
        self.place = (self.place + 31) & ~31
        words = self.fixed(32)
        return block, width, self.place + 32 * words


def records(bits: Bits, width: int) -> Iterator[tuple[int, list[int]]]:
    """(code, values) of each record of a block, up to its end; for a nested block (-1, [block, width]), then skipped.

    Args: bits: behind the head of the block; width: of the block's abbreviations. A caller that wants the records of a
      nested block reads them with another Bits from `bits.place` at that moment on.

    Raises: Unreadable: the block is not written as LLVM writes it.
    """
    abbreviations: list[list[_Operand]] = []
    while (number := bits.fixed(width)) != END:
        if number == SUBBLOCK:
            block, inner, end = bits.block_head()
            yield -1, [block, inner]
            bits.place = end
        elif number == DEFINE_ABBREVIATION:
            abbreviations.append(_abbreviation(bits))
        elif number == UNABBREVIATED:
            code, count = bits.vbr(6), bits.vbr(6)
            yield code, [bits.vbr(6) for _ in range(count)]  # Each takes bits, so a false count ends.
        elif number <= UNABBREVIATED + len(abbreviations):
            values = _record(bits, abbreviations[number - UNABBREVIATED - 1])
            if not values:
                raise Unreadable()
            yield values[0], values[1:]
        else:
            raise Unreadable()


def module_block(content: bytes) -> tuple[bytes, Bits, int]:
    """(bitcode without Apple's wrapper, its bits behind the head of the module block, width of its abbreviations).

    Raises: Unreadable: there is no module.
    """
    start = int.from_bytes(content[8:12], "little") if content.startswith(_WRAPPER_MAGIC) else 0
    if not content.startswith(_MAGIC, start):
        raise Unreadable()
    content = content[start:]
    bits = Bits(content, 8 * len(_MAGIC))
    while True:
        if bits.fixed(_TOP_LEVEL_WIDTH) != SUBBLOCK:
            raise Unreadable()
        block, width, end = bits.block_head()
        if block == _MODULE_BLOCK:
            return content, bits, width
        bits.place = end


def _abbreviation(bits: Bits) -> list[_Operand]:
    operands: list[_Operand] = []
    for _ in range(bits.vbr(5)):
        if bits.fixed(1):
            operands.append((0, bits.vbr(8)))
        else:
            encoding = bits.fixed(3)
            operands.append((encoding, bits.vbr(5) if encoding in (_FIXED, _VBR) else 0))
    return operands


def _record(bits: Bits, operands: list[_Operand]) -> list[int]:
    values: list[int] = []
    for place, operand in enumerate(operands):
        if operand[0] == _ARRAY:
            # The type of its elements follows, as the last operand.
            if place + 2 != len(operands) or (count := bits.vbr(6)) > _MOST_ELEMENTS:
                raise Unreadable()
            return [*values, *(_value(bits, operands[-1]) for _ in range(count))]
        values.append(_value(bits, operand))
    return values


def _value(bits: Bits, operand: _Operand) -> int:
    encoding, width = operand
    if encoding == 0:
        return width
    if encoding == _FIXED:
        return bits.fixed(width)
    if encoding == _VBR:
        return bits.vbr(width)
    if encoding == _CHAR6:
        return ord(_CHARACTERS[bits.fixed(6)])
    raise Unreadable()
