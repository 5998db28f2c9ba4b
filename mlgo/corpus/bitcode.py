"""Facts that are read from bitcode: its kind and producer, the source, how its functions were made, how much is code.

Source of the format: llvm/docs/BitCodeFormat.rst; of the records: llvm/lib/Bitcode/Writer/BitcodeWriter.cpp of LLVM
22.1.8 (writeIdentificationBlock, writeModuleInfo, writeAttributeGroupTable, writeAttributeTable); of the numbers:
llvm/include/llvm/Bitcode/LLVMBitCodes.h. Bitcode may be hostile: what cannot be read is as good as not there.

Of the bitstream that holds it, only what is needed is read to reach records near the beginning of a block.
"""

import dataclasses
import re
from collections.abc import Iterator, Sequence

MAGIC = b"BC\xc0\xde"
WRAPPER_MAGIC = b"\xde\xc0\x17\x0b"
#: Kinds of LTO, as -flto= names them.
THIN, FULL = "thin", "full"

_END, _SUBBLOCK, _DEFINE_ABBREVIATION, _UNABBREVIATED = range(4)
_LITERAL, _FIXED, _VBR, _ARRAY, _CHAR6 = range(5)
_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"
# Longer arrays are no names; a false length must not cost memory.
_MOST_ELEMENTS = 1 << 16
# Functions are listed before any code.
_MOST_BYTES = 16 << 20
_MOST_PADDING = 64
# Real identifications have a few dozen bytes.
_MOST_IDENTIFICATION_BYTES = 1024

_MODULE_BLOCK, _PARAMETER_ATTRIBUTES, _ATTRIBUTE_GROUPS, _FUNCTION_BLOCK, _IDENTIFICATION_BLOCK = 8, 9, 10, 12, 13
#: The blocks in which a compile for LTO leaves a summary of its module.
_SUMMARY_BLOCK, _STRING_TABLE_BLOCK, _FULL_SUMMARY_BLOCK = 20, 23, 24
_STRING, _ENTRY, _GROUP_ENTRY, _FUNCTION, _SOURCE_FILENAME = 1, 2, 3, 8, 16
# A function's record begins: offset and size of its name, type, calling convention, whether it is only declared,
# linkage, number of its list of attributes, from 1 (0: none). Further on: alignment, section, visibility, garbage
# collector, and whether its address matters; 2: not in this module.
_DECLARED, _ATTRIBUTES, _UNNAMED_ADDRESS, _LOCAL_UNNAMED = 4, 6, 11, 2
# The attributes of a group belong to this place: the function itself.
_OF_FUNCTION = 0xFFFFFFFF
_ENUM, _INTEGER = 0, 1
_MIN_SIZE, _OPTIMIZE_FOR_SIZE, _OPTIMIZE_NONE = 6, 19, 37
# Definitions that are counted: the functions of a module were compiled at one level, apart from single ones.
_MOST_FUNCTIONS = 50
# Of these, so many are asked whether they are optimised: most of a module's are marked.
_ASKED = 12

#: The variable in which embedBitcodeInModule (llvm/lib/Bitcode/Writer/BitcodeWriter.cpp) puts bitcode for the object.
_EMBEDDED = b"llvm.embedded.module"
_LLVM = re.compile(r"LLVM(\d{1,4})(\.|git|$)")

#: One operand of an abbreviation: its encoding and the width of its fields, or the value of a literal.
_Operand = tuple[int, int]


class _Unreadable(Exception):
    """The bits are not written as LLVM writes them."""


class _Bits:
    """A stream of bits, the lowest of each byte first; `place` is that of the next. Reading raises _Unreadable."""

    def __init__(self, content: bytes, place: int = 0):
        self._content, self.place = content, place

    def fixed(self, width: int) -> int:
        """A number of `width` bits."""
        first, self.place = self.place, self.place + width
        if self.place > 8 * len(self._content):
            raise _Unreadable()
        word = int.from_bytes(self._content[first >> 3 : (self.place + 7) >> 3], "little")
        return (word >> (first & 7)) & ((1 << width) - 1)

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

    def block_head(self) -> tuple[int, int, int]:
        """What follows _SUBBLOCK: (block, width of its abbreviations, bits that it has)."""
        block, width = self.vbr(8), self.vbr(4)
        self.place = (self.place + 31) & ~31
        return block, width, 32 * self.fixed(32)


def _records(bits: _Bits, width: int) -> Iterator[tuple[int, list[int]]]:
    """(code, values) of each record of a block, up to its end; of a nested block (-1, [block, width of abbreviations,
    place, bits]), which is then skipped.

    Args: bits: behind the head of the block; width: of the block's abbreviations.
    """
    abbreviations: list[list[_Operand]] = []
    while (number := bits.fixed(width)) != _END:
        if number == _SUBBLOCK:
            block, inner, size = bits.block_head()
            end = bits.place + size
            yield -1, [block, inner, bits.place, size]
            bits.place = end
        elif number == _DEFINE_ABBREVIATION:
            abbreviations.append([_operand(bits) for _ in range(bits.vbr(5))])
        elif number == _UNABBREVIATED:
            code, count = bits.vbr(6), bits.vbr(6)
            yield code, [bits.vbr(6) for _ in range(count)]  # Each takes bits, so a false count ends.
        elif number <= _UNABBREVIATED + len(abbreviations):
            values = _record(bits, abbreviations[number - _UNABBREVIATED - 1])
            if not values:
                raise _Unreadable()
            yield values[0], values[1:]
        else:
            raise _Unreadable()


def _operand(bits: _Bits) -> _Operand:
    if bits.fixed(1):
        return _LITERAL, bits.vbr(8)
    encoding = bits.fixed(3)
    return encoding, bits.vbr(5) if encoding in (_FIXED, _VBR) else 0


def _record(bits: _Bits, operands: list[_Operand]) -> list[int]:
    values: list[int] = []
    for place, operand in enumerate(operands):
        if operand[0] == _ARRAY:
            # The type of its elements follows, as the last operand.
            if place + 2 != len(operands) or (count := bits.vbr(6)) > _MOST_ELEMENTS:
                raise _Unreadable()
            return [*values, *(_value(bits, operands[-1]) for _ in range(count))]
        values.append(_value(bits, operand))
    return values


def _value(bits: _Bits, operand: _Operand) -> int:
    encoding, width = operand
    if encoding == _LITERAL:
        return width
    if encoding == _FIXED:
        return bits.fixed(width)
    if encoding == _VBR:
        return bits.vbr(width)
    if encoding == _CHAR6:
        return ord(_CHARACTERS[bits.fixed(6)])
    raise _Unreadable()


def _blocks(content: bytes) -> Iterator[tuple[int, bytes]]:
    """(number, bytes) of each top-level block, of all modules.
    Blocks are skipped by their lengths. A broken block ends them; LLVM validates the bitcode."""
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
        if word & 0b11 != _SUBBLOCK:  # In abbreviations of two bits.
            return
        end = position + 8 + 4 * int.from_bytes(content[position + 4 : position + 8], "little")
        yield (word >> 2) & 0xFF, content[position:end]
        position = end


def _inside(block: bytes) -> Iterator[tuple[int, list[int]]]:
    """The records of a top-level block. Raises: _Unreadable."""
    bits = _Bits(block, place=2)  # _SUBBLOCK takes two bits.
    return _records(bits, bits.block_head()[1])


def _module(content: bytes) -> bytes:
    """The block of the first module. Raises: _Unreadable: there is none."""
    for number, block in _blocks(content) if is_bitcode(content) else ():
        if number == _MODULE_BLOCK:
            return block
    raise _Unreadable()


def _module_records(content: bytes) -> Iterator[tuple[int, list[int]]]:
    """The records of the first module in `content`, as far as they can be read."""
    try:
        yield from _inside(_module(content))
    except _Unreadable:
        pass


def is_bitcode(content: bytes) -> bool:
    """Whether `content` starts as bitcode does, with or without Apple's wrapper."""
    return content.startswith((MAGIC, WRAPPER_MAGIC))


def module_count(content: bytes) -> int:
    """How many modules follow each other: usually 1, more after `ld -r` has joined sections."""
    return sum(block == _MODULE_BLOCK for block, _ in _blocks(content))


def holds_itself(content: bytes) -> bool:
    """Whether a module has embedded bitcode as a variable: bitcode that was embedded, compiled and embedded again.
    Names of variables are in one piece behind the module; the same text in a constant is not."""
    return any(block == _STRING_TABLE_BLOCK and _EMBEDDED in piece for block, piece in _blocks(content))


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
        for code, values in _inside(content):
            if code == _STRING:
                return "".join(chr(value & 0xFF) for value in values)
    except _Unreadable:
        pass
    return None


def llvm_major(content: bytes) -> int | None:
    """The major version of the LLVM that wrote the bitcode; None: another project's compiler, or none is stated."""
    found = _LLVM.match(producer(content) or "")
    return int(found[1]) if found else None


def source_name(content: bytes) -> str | None:
    """The source file as the compiler was given it; None: not stated, or not bitcode in today's format."""
    for code, values in _module_records(content):
        if code == _SOURCE_FILENAME:
            return bytes(value & 0xFF for value in values).decode("utf-8", "surrogateescape")
    return None


def function_bytes(content: bytes) -> int:
    """Bytes of bitcode in the bodies of functions; of bitcode that is damaged or in another format, all bytes.
    Names, types and debug information take most of some modules and say little about what compiling them costs."""
    try:
        inside = _inside(_module(content))
        return sum(values[3] // 8 for code, values in inside if code < 0 and values[0] == _FUNCTION_BLOCK)
    except _Unreadable:
        return len(content)


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


@dataclasses.dataclass(frozen=True)
class FunctionAttributes:
    """How many of the first functions that a module defines have minsize, optsize, optnone.

    The front end sets these attributes by its optimisation level: -Oz sets minsize and optsize, -Os optsize, -O0
    optnone. No later compile sets or removes them, so they tell the level of bitcode whose own command is not known.
    """

    functions: int = 0
    min_size: int = 0
    for_size: int = 0
    none: int = 0


def function_attributes(content: bytes) -> FunctionAttributes | None:
    """The counts for a module's bitcode; None: it is not bitcode, or another format than LLVM's of today."""
    try:
        found = _attributes_of_functions(_module(content[:_MOST_BYTES]))
    except _Unreadable:
        return None
    having = [sum(kind in each for each in found) for kind in (_MIN_SIZE, _OPTIMIZE_FOR_SIZE, _OPTIMIZE_NONE)]
    return FunctionAttributes(len(found), *having)


def _attributes_of_functions(module: bytes) -> list[frozenset[int]]:
    """The enumerated attributes of each of the first functions that a module defines. Raises: _Unreadable."""
    groups: dict[int, frozenset[int]] = {}
    lists: list[frozenset[int]] = []
    found: list[frozenset[int]] = []
    for code, values in _inside(module):
        if code < 0 and values[0] == _FUNCTION_BLOCK:
            break
        if code < 0 and values[0] in (_ATTRIBUTE_GROUPS, _PARAMETER_ATTRIBUTES):
            for inner, entry in _records(_Bits(module, values[2]), values[1]):
                if inner == _GROUP_ENTRY and values[0] == _ATTRIBUTE_GROUPS and entry[1:2] == [_OF_FUNCTION]:
                    groups[entry[0]] = _enumerated(entry[2:])
                elif inner == _ENTRY and values[0] == _PARAMETER_ATTRIBUTES:
                    lists.append(frozenset().union(*(groups.get(group, frozenset()) for group in entry)))
        elif code == _FUNCTION and len(values) > _ATTRIBUTES and not values[_DECLARED]:
            number = values[_ATTRIBUTES]
            if number > len(lists):
                raise _Unreadable()
            found.append(lists[number - 1] if number else frozenset())
            if len(found) == _MOST_FUNCTIONS:
                break
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
