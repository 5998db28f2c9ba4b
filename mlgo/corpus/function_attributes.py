"""Reads from bitcode how its functions were made: for which level (minsize, optsize, optnone), and whether the
optimiser has run on them.

The front end sets these attributes by its optimisation level: -Oz sets minsize and optsize, -Os optsize, -O0 optnone.
No later compile sets or removes them, so they tell the level of bitcode whose own command is not known. The optimiser
marks functions whose address is not taken as local_unnamed_addr (processGlobal, llvm/lib/Transforms/IPO/GlobalOpt.cpp),
at every level but -O0; clang's front end never does.

Source of the records: llvm/lib/Bitcode/Writer/BitcodeWriter.cpp of LLVM 22.1.8 (writeAttributeGroupTable,
writeAttributeTable, writeModuleInfo); of their numbers: llvm/include/llvm/Bitcode/LLVMBitCodes.h.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from mlgo.corpus.bitstream import Bits, Unreadable, module_block, records

_PARAMETER_ATTRIBUTES, _ATTRIBUTE_GROUPS, _FUNCTION_BLOCK = 9, 10, 12
_ENTRY, _GROUP_ENTRY = 2, 3
# A function's record begins: offset and size of its name, type, calling convention, whether it is only declared,
# linkage, number of its list of attributes, from 1 (0: none).
_FUNCTION, _DECLARED, _ATTRIBUTES = 8, 4, 6
# Further on: alignment, section, visibility, garbage collector, and whether its address matters; 2: not in this module.
_UNNAMED_ADDRESS, _LOCAL_UNNAMED = 11, 2
# The attributes of a group belong to this place: the function itself.
_OF_FUNCTION = 0xFFFFFFFF
_ENUM, _INTEGER, _STRING, _STRING_WITH_VALUE = 0, 1, 3, 4
_MIN_SIZE, _OPTIMIZE_FOR_SIZE, _OPTIMIZE_NONE = 6, 19, 37

# Definitions that are counted: the functions of a module were compiled at one level, apart from single ones.
_MOST_FUNCTIONS = 50
# Of these, so many are asked whether they are optimised: most of a module's are marked.
_ASKED = 12
# Functions are listed before any code.
_MOST_BYTES = 16 << 20


@dataclasses.dataclass(frozen=True)
class FunctionAttributes:
    """Counts over the first functions that a module defines.

    Attributes:
      functions: how many were counted.
      min_size, for_size, none: how many have minsize, optsize, optnone.
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
    """Whether the optimiser has run on a module's bitcode; False also where this cannot be read."""
    try:
        _, bits, width = module_block(content[:_MOST_BYTES])
        asked = 0
        for code, values in records(bits, width):
            if code == _FUNCTION and len(values) > _UNNAMED_ADDRESS and not values[_DECLARED]:
                if values[_UNNAMED_ADDRESS] == _LOCAL_UNNAMED:
                    return True
                asked += 1
            if asked == _ASKED or (code < 0 and values[0] == _FUNCTION_BLOCK):
                break
    except Unreadable:
        pass
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
