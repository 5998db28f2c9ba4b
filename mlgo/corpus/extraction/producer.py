"""Reads which compiler wrote a piece of bitcode: the string in its identification block.

Source of the format: llvm/docs/BitCodeFormat.rst, IDENTIFICATION_BLOCK; written by writeIdentificationBlock in
llvm/lib/Bitcode/Writer/BitcodeWriter.cpp since LLVM 3.8.
"""

import re

from mlgo.corpus.bitstream import SUBBLOCK, Bits, Unreadable, records
from mlgo.corpus.extraction import bitcode

_IDENTIFICATION_BLOCK = 13
_STRING = 1
# Real ones have a few dozen bytes.
_MOST_BYTES = 1024

_LLVM = re.compile(r"LLVM(\d{1,4})(\.|git|$)")


def producer(content: bytes) -> str | None:
    """The name and version of the compiler, such as "LLVM22.1.8" or "APPLE_1_1500.3.9.4_0"; None: it is not stated."""
    found = content.find(bitcode.MAGIC, 0, _MOST_BYTES)
    if found < 0:
        return None
    start = found + len(bitcode.MAGIC)
    word = int.from_bytes(content[start : start + 4], "little")
    size = 4 * int.from_bytes(content[start + 4 : start + 8], "little")
    # ENTER_SUBBLOCK in two bits, the block in eight, the width of its abbreviations in four.
    if word & 0b11 != SUBBLOCK or (word >> 2) & 0xFF != _IDENTIFICATION_BLOCK or size > _MOST_BYTES:
        return None
    try:
        for code, values in records(Bits(content[start + 8 : start + 8 + size]), (word >> 10) & 0xF):
            if code == _STRING:
                return "".join(chr(value & 0xFF) for value in values)
    except Unreadable:
        pass
    return None


def llvm_major(content: bytes) -> int | None:
    """The major version of the LLVM that wrote the bitcode; None: another project's compiler, or none is stated."""
    found = _LLVM.match(producer(content) or "")
    return int(found[1]) if found else None
