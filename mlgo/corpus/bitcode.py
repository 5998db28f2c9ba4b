"""Facts that are read from bitcode: its kind and producer, the source, how its functions were made, how much is code.

Source of the format: llvm/docs/BitCodeFormat.rst; of the records: llvm/lib/Bitcode/Writer/BitcodeWriter.cpp of LLVM
22.1.8 (writeIdentificationBlock, writeModuleInfo, writeAttributeGroupTable, writeAttributeTable); of the numbers:
llvm/include/llvm/Bitcode/LLVMBitCodes.h. Bitcode may be hostile: what cannot be read is as good as not there.

Of the bitstream that holds it, only what is needed is read to reach records near the beginning of a block: a block's
contents are records in the caller's eyes, and nested blocks may be skipped by their length.
"""

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence

END, SUBBLOCK, DEFINE_ABBREVIATION, UNABBREVIATED = range(4)
_FIXED, _VBR, _ARRAY, _CHAR6 = 1, 2, 3, 4
_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"
# Longer arrays are no names; a false length must not cost memory.
_MOST_ELEMENTS = 1 << 16

_TOP_LEVEL_WIDTH = 2

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
    start = int.from_bytes(content[8:12], "little") if content.startswith(WRAPPER_MAGIC) else 0
    if not content.startswith(MAGIC, start):
        raise Unreadable()
    content = content[start:]
    bits = Bits(content, 8 * len(MAGIC))
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


MAGIC = b"BC\xc0\xde"
WRAPPER_MAGIC = b"\xde\xc0\x17\x0b"

_MODULE_BLOCK, _STRING_TABLE_BLOCK = 8, 23
_SOURCE_FILENAME = 16
#: The variable in which embedBitcodeInModule (llvm/lib/Bitcode/Writer/BitcodeWriter.cpp) puts bitcode for the object.
_EMBEDDED = b"llvm.embedded.module"
#: The blocks in which a compile for LTO leaves a summary of its module (llvm/include/llvm/Bitcode/LLVMBitCodes.h).
_SUMMARY_BLOCK, _FULL_SUMMARY_BLOCK = 20, 24
#: Kinds of LTO, as -flto= names them.
THIN, FULL = "thin", "full"
_MOST_PADDING = 64

_IDENTIFICATION_BLOCK = 13
_STRING = 1
# Real ones have a few dozen bytes.
_MOST_IDENTIFICATION_BYTES = 1024
_LLVM = re.compile(r"LLVM(\d{1,4})(\.|git|$)")
_PARAMETER_ATTRIBUTES, _ATTRIBUTE_GROUPS, _FUNCTION_BLOCK = 9, 10, 12
_ENTRY, _GROUP_ENTRY = 2, 3
# A function's record begins: offset and size of its name, type, calling convention, whether it is only declared,
# linkage, number of its list of attributes, from 1 (0: none).
_FUNCTION, _DECLARED, _ATTRIBUTES = 8, 4, 6
# Further on: alignment, section, visibility, garbage collector, and whether its address matters; 2: not in this module.
_UNNAMED_ADDRESS, _LOCAL_UNNAMED = 11, 2
# The attributes of a group belong to this place: the function itself.
_OF_FUNCTION = 0xFFFFFFFF
_ENUM, _INTEGER = 0, 1
_MIN_SIZE, _OPTIMIZE_FOR_SIZE, _OPTIMIZE_NONE = 6, 19, 37
# Definitions that are counted: the functions of a module were compiled at one level, apart from single ones.
_MOST_FUNCTIONS = 50
# Of these, so many are asked whether they are optimised: most of a module's are marked.
_ASKED = 12
# Functions are listed before any code.
_MOST_BYTES = 16 << 20
_WORD_BITS = 32
# Of a top-level block, SUBBLOCK takes two bits.
_HEAD_BITS = 2


def is_bitcode(content: bytes) -> bool:
    """Whether `content` starts as bitcode does, with or without Apple's wrapper."""
    return content.startswith((MAGIC, WRAPPER_MAGIC))


def module_count(content: bytes) -> int:
    """How many modules follow each other: usually 1, more after `ld -r` has joined sections."""
    return sum(block == _MODULE_BLOCK for block, _ in _blocks(content))


def holds_itself(content: bytes) -> bool:
    """Whether a module has embedded bitcode as a variable: bitcode that was embedded, compiled and embedded again.

    Names of variables are in one piece behind the module; the same text in a constant is not.
    """
    return any(block == _STRING_TABLE_BLOCK and _EMBEDDED in piece for block, piece in _blocks(content))


def _blocks(content: bytes) -> Iterator[tuple[int, bytes]]:
    """(number, bytes) of each top-level block, of all modules.

    Blocks are skipped by their lengths. A broken block ends them; LLVM validates the bitcode.
    """
    position = 0
    while position + 8 <= len(content):
        if content.startswith(WRAPPER_MAGIC, position):
            # Wrapper: magic, version, offset, size, CPU type.
            position += int.from_bytes(content[position + 8 : position + 12], "little") or 20
            continue
        if content.startswith(MAGIC, position):
            position += 4
            continue
        word = int.from_bytes(content[position : position + 4], "little")
        if word == 0:  # Padding between joined sections; more than this is none.
            if not any(content[position : position + _MOST_PADDING]):
                return
            position += 4
            continue
        if word & 0b11 != SUBBLOCK:  # In abbreviations of two bits.
            return
        end = position + 8 + 4 * int.from_bytes(content[position + 4 : position + 8], "little")
        yield (word >> 2) & 0xFF, content[position:end]
        position = end


def _module_records(content: bytes) -> Iterator[tuple[int, list[int]]]:
    """What `records` gives of the first module in `content`, as far as it can be read."""
    try:
        _, bits, width = module_block(content)
        yield from records(bits, width)
    except Unreadable:
        pass


def lto_kind(content: bytes) -> str | None:
    """The kind of LTO that the first module in `content` was compiled for; None: for none, or it cannot be read."""
    for code, values in _module_records(content):
        if code < 0 and values[0] in (_SUMMARY_BLOCK, _FULL_SUMMARY_BLOCK):
            return THIN if values[0] == _SUMMARY_BLOCK else FULL
    return None


def producer(content: bytes) -> str | None:
    """The name and version of the compiler, such as "LLVM22.1.8" or "APPLE_1_1500.3.9.4_0"; None: it is not stated."""
    block, content = next(_blocks(content), (None, b""))
    if block != _IDENTIFICATION_BLOCK or len(content) > _MOST_IDENTIFICATION_BYTES:
        return None
    try:
        _, width, _ = (bits := Bits(content, _HEAD_BITS)).block_head()
        for code, values in records(bits, width):
            if code == _STRING:
                return "".join(chr(value & 0xFF) for value in values)
    except Unreadable:
        pass
    return None


def llvm_major(content: bytes) -> int | None:
    """The major version of the LLVM that wrote the bitcode; None: another project's compiler, or none is stated."""
    found = _LLVM.match(producer(content) or "")
    return int(found[1]) if found else None


@dataclasses.dataclass(frozen=True)
class FunctionAttributes:
    """Counts over the first functions that a module defines.

    The front end sets these attributes by its optimisation level: -Oz sets minsize and optsize, -Os optsize, -O0
    optnone. No later compile sets or removes them, so they tell the level of bitcode whose own command is not known.

    Attributes: min_size, for_size, none: how many have minsize, optsize, optnone.
    """

    functions: int = 0
    min_size: int = 0
    for_size: int = 0
    none: int = 0


def function_attributes(content: bytes) -> FunctionAttributes | None:
    """The counts for a module's bitcode; None: it is not bitcode, or another format than LLVM's of today."""
    try:
        return _counts(*module_block(content[:_MOST_BYTES]))
    except Unreadable:
        return None


def is_optimised(content: bytes) -> bool:
    """Whether the optimiser has run on a module's bitcode; False also where this cannot be read.

    It marks functions whose address is not taken as local_unnamed_addr (processGlobal,
    llvm/lib/Transforms/IPO/GlobalOpt.cpp), at every level but -O0; clang's front end never does.
    """
    asked = 0
    for code, values in _module_records(content[:_MOST_BYTES]):
        if code == _FUNCTION and len(values) > _UNNAMED_ADDRESS and not values[_DECLARED]:
            if values[_UNNAMED_ADDRESS] == _LOCAL_UNNAMED:
                return True
            asked += 1
        if asked == _ASKED or (code < 0 and values[0] == _FUNCTION_BLOCK):
            break
    return False


def _counts(content: bytes, bits: Bits, width: int) -> FunctionAttributes:
    """The counts of the module block in which `bits` stands."""
    groups: dict[int, frozenset[int]] = {}
    lists: list[frozenset[int]] = []
    found: list[frozenset[int]] = []
    for code, values in records(bits, width):
        inner = values[0] if code < 0 else None
        if inner == _ATTRIBUTE_GROUPS:
            groups = _groups(content, bits.place, values[1])
        elif inner == _PARAMETER_ATTRIBUTES:
            lists = _lists(content, bits.place, values[1], groups)
        elif inner == _FUNCTION_BLOCK:
            break
        elif code == _FUNCTION and len(values) > _ATTRIBUTES and not values[_DECLARED]:
            number = values[_ATTRIBUTES]
            if number > len(lists):
                raise Unreadable()
            found.append(lists[number - 1] if number else frozenset())
            if len(found) == _MOST_FUNCTIONS:
                break
    having = [sum(kind in each for each in found) for kind in (_MIN_SIZE, _OPTIMIZE_FOR_SIZE, _OPTIMIZE_NONE)]
    return FunctionAttributes(len(found), *having)


def _groups(content: bytes, place: int, width: int) -> dict[int, frozenset[int]]:
    """The enumerated attributes of functions, by group."""
    found = {}
    for code, values in records(Bits(content, place), width):
        if code == _GROUP_ENTRY and len(values) > 1 and values[1] == _OF_FUNCTION:
            found[values[0]] = _enumerated(values[2:])
    return found


def _enumerated(values: Sequence[int]) -> frozenset[int]:
    """The enumerated attributes of a group. They stand before those with texts, at which this stops."""
    found = set()
    place = 0
    while place + 1 < len(values) and values[place] in (_ENUM, _INTEGER):
        if values[place] == _ENUM:
            found.add(values[place + 1])
        place += 2 if values[place] == _ENUM else 3
    return frozenset(found)


def _lists(content: bytes, place: int, width: int, groups: Mapping[int, frozenset[int]]) -> list[frozenset[int]]:
    """The function's own attributes in each list of groups."""
    return [
        frozenset().union(*(groups.get(group, frozenset()) for group in values))
        for code, values in records(Bits(content, place), width)
        if code == _ENTRY
    ]


def function_bytes(content: bytes) -> int:
    """Bytes of bitcode in the bodies of functions; of bitcode that is damaged or in another format, all bytes.

    Names, types and debug information take most of some modules and say little about what compiling them costs.
    """
    try:
        content, bits, width = module_block(content)
        words = 0
        for code, values in records(bits, width):
            if code == -1 and values[0] == _FUNCTION_BLOCK:
                # The last of a block's head is its length.
                words += Bits(content, bits.place - _WORD_BITS).fixed(_WORD_BITS)
        return words * _WORD_BITS // 8
    except Unreadable:
        return len(content)


def source_name(content: bytes) -> str | None:
    """The source file as the compiler was given it; None: not stated, or not bitcode in today's format."""
    for code, values in _module_records(content):
        if code == _SOURCE_FILENAME:
            return bytes(value & 0xFF for value in values).decode("utf-8", "surrogateescape")
    return None
