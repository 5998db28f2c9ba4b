"""Reads which compiler wrote a piece of bitcode: the string in its identification block.

Source of the format: llvm/docs/BitCodeFormat.rst, IDENTIFICATION_BLOCK; written by writeIdentificationBlock in
llvm/lib/Bitcode/Writer/BitcodeWriter.cpp since LLVM 3.8.
"""

import re

from mlgo.corpus.extraction import bitcode

_IDENTIFICATION_BLOCK = 13
_STRING = 1
# Real ones have a few dozen bytes.
_MOST_BYTES = 1024

_END, _SUBBLOCK, _DEFINE_ABBREVIATION, _UNABBREVIATED = range(4)
_FIXED, _VBR, _ARRAY, _CHAR6 = 1, 2, 3, 4
_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"

_LLVM = re.compile(r"LLVM(\d{1,4})(\.|git|$)")

#: One operand of an abbreviation: its encoding and the width of its fields; a literal has encoding 0 and its value.
_Operand = tuple[int, int]


class _Unreadable(Exception):
    """The block is not written as LLVM writes it."""


def producer(content: bytes) -> str | None:
    """The name and version of the compiler, such as "LLVM22.1.8" or "APPLE_1_1500.3.9.4_0"; None: it is not stated."""
    found = content.find(bitcode.MAGIC, 0, _MOST_BYTES)
    if found < 0:
        return None
    start = found + len(bitcode.MAGIC)
    word = int.from_bytes(content[start : start + 4], "little")
    size = 4 * int.from_bytes(content[start + 4 : start + 8], "little")
    # ENTER_SUBBLOCK in two bits, the block in eight, the width of its abbreviations in four.
    if word & 0b11 != _SUBBLOCK or (word >> 2) & 0xFF != _IDENTIFICATION_BLOCK or size > _MOST_BYTES:
        return None
    try:
        return _string(_Bits(content[start + 8 : start + 8 + size]), (word >> 10) & 0xF)
    except _Unreadable:
        return None


def llvm_major(content: bytes) -> int | None:
    """The major version of the LLVM that wrote the bitcode; None: another project's compiler, or none is stated."""
    found = _LLVM.match(producer(content) or "")
    return int(found[1]) if found else None


class _Bits:
    """A stream of bits, the lowest of each byte first."""

    def __init__(self, content: bytes):
        self._value, self._left = int.from_bytes(content, "little"), 8 * len(content)

    def fixed(self, width: int) -> int:
        if width > self._left:
            raise _Unreadable()
        value, self._value = self._value & ((1 << width) - 1), self._value >> width
        self._left -= width
        return value

    def vbr(self, width: int) -> int:
        """A number in chunks of `width` bits, of which the highest says that another follows."""
        if width < 2:
            raise _Unreadable()
        value, place, more = 0, 0, True
        while more:
            chunk = self.fixed(width)
            value |= (chunk & ((1 << (width - 1)) - 1)) << place
            place, more = place + width - 1, chunk >> (width - 1) == 1
        return value


def _string(bits: _Bits, width: int) -> str | None:
    abbreviations: list[list[_Operand]] = []
    while (number := bits.fixed(width)) != _END:
        if number == _DEFINE_ABBREVIATION:
            abbreviations.append(_abbreviation(bits))
            continue
        if number == _UNABBREVIATED:
            code, count = bits.vbr(6), bits.vbr(6)
            values = [code, *(bits.vbr(6) for _ in range(count))]  # Each takes bits, so a false count ends.
        elif _UNABBREVIATED < number <= _UNABBREVIATED + len(abbreviations):
            values = _record(bits, abbreviations[number - _UNABBREVIATED - 1])
        else:
            raise _Unreadable()
        if values[:1] == [_STRING]:
            return "".join(chr(value & 0xFF) for value in values[1:])
    return None


def _abbreviation(bits: _Bits) -> list[_Operand]:
    operands: list[_Operand] = []
    for _ in range(bits.vbr(5)):
        if bits.fixed(1):
            operands.append((0, bits.vbr(8)))
        else:
            encoding = bits.fixed(3)
            operands.append((encoding, bits.vbr(5) if encoding in (_FIXED, _VBR) else 0))
    return operands


def _record(bits: _Bits, operands: list[_Operand]) -> list[int]:
    values: list[int] = []
    for place, operand in enumerate(operands):
        if operand[0] == _ARRAY:
            # The type of its elements follows, as the last operand.
            if place + 2 != len(operands) or (count := bits.vbr(6)) > _MOST_BYTES:
                raise _Unreadable()
            return [*values, *(_value(bits, operands[-1]) for _ in range(count))]
        values.append(_value(bits, operand))
    return values


def _value(bits: _Bits, operand: _Operand) -> int:
    encoding, width = operand
    if encoding == 0:
        return width
    if encoding == _FIXED:
        return bits.fixed(width)
    if encoding == _VBR:
        return bits.vbr(width)
    if encoding == _CHAR6:
        return ord(_CHARACTERS[bits.fixed(6)])
    raise _Unreadable()
