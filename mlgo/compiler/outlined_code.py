"""Which functions the code of an object's outlined functions comes from.

At -Oz the machine outliner (llvm/lib/CodeGen/MachineOutliner.cpp) moves equal sequences of instructions out of several
functions into a new one, which these call: on AArch64, RISC-V and Thumb of microcontrollers without an option. The new
function has a name that no decision knows, so its bytes are charged to its callers, by the number of their calls.
"""

import bisect
import collections
import re
import struct
from collections.abc import Iterator, Mapping

from mlgo.corpus import elf
from mlgo.corpus.elf import ElfFile, Symbol

#: Of one function: (section, offset in it).
Place = tuple[int, int]
#: Outlined function → function that calls it → number of calls.
Calls = dict[Place, collections.Counter[Place]]

#: With -machine-outliner-reruns and with -codegen-data-* more follows the number.
_OUTLINED = re.compile(r"OUTLINED_FUNCTION_\d+(_\d+)*(\.content\.\d+)?(\.Tgm)?")
_EM_ARM, _EM_AARCH64, _EM_RISCV = 40, 183, 243
_IDENT_BIG_ENDIAN = 2


def is_outlined(name: str) -> bool:
    """Whether the machine outliner made the function with this name."""
    return _OUTLINED.fullmatch(name) is not None


def charged(file: ElfFile, symbols: list[Symbol], functions: Mapping[Place, tuple[str, int]]) -> dict[Place, int]:
    """The bytes of each function with its share of the outlined functions, which have none of their own any more.

    The sum stays the same. An outlined function whose calls are not found keeps its bytes.

    Args: functions: place → name and bytes. Raises: ElfError: the object is damaged.
    """
    sizes = {place: size for place, (_, size) in functions.items()}
    waiting = {place for place, (name, _) in functions.items() if is_outlined(name)}
    if not waiting:
        return sizes
    calls = _calls(file, symbols, sizes, waiting)
    # A later run of the outliner takes code out of what an earlier one made: the inner one is charged first. Calls in
    # a circle are no compiler's, and are never ready.
    inner = collections.Counter(caller for callers in calls.values() for caller in callers if caller in waiting)
    ready = [place for place in calls if not inner[place]]
    while ready:
        place = ready.pop()
        for caller, share in _shares(sizes.pop(place), calls[place]):
            sizes[caller] += share
            inner[caller] -= 1
            if caller in calls and not inner[caller]:
                ready.append(caller)
    return sizes


def _shares(size: int, callers: Mapping[Place, int]) -> Iterator[tuple[Place, int]]:
    """Whole bytes by the number of calls; they add up to `size`."""
    total, before = sum(callers.values()), 0
    for caller, count in sorted(callers.items()):
        yield caller, size * (before + count) // total - size * before // total
        before += count


def _calls(file: ElfFile, symbols: list[Symbol], sizes: Mapping[Place, int], outlined: set[Place]) -> Calls:
    machine = file.header[2]
    # The lowest bit of a Thumb function's address is a mark.
    mark = 1 if machine == _EM_ARM else 0
    names = {(section, value & ~mark): (section, value) for section, value in outlined}
    bodies: dict[int, list[tuple[int, int, Place]]] = collections.defaultdict(list)
    for (section, value), size in sorted(sizes.items()):
        bodies[section].append((value & ~mark, (value & ~mark) + size, (section, value)))
    found: Calls = collections.defaultdict(collections.Counter)

    def add(section: int, offset: int, target: Place) -> None:
        callee = names.get(target)
        if callee is None:
            return
        at = bisect.bisect_right(bodies[section], offset, key=lambda body: body[0]) - 1
        _, end, caller = bodies[section][at]
        if at >= 0 and offset < end and caller != callee:
            found[callee][caller] += 1

    for table in (*file.sections_of_kind(elf.SHT_RELA), *file.sections_of_kind(elf.SHT_REL)):
        for relocation in file.relocations(table) if table.info in bodies else ():
            if relocation.symbol >= len(symbols):
                raise elf.ElfError(f"refers to symbol {relocation.symbol} of {len(symbols)}")
            symbol = symbols[relocation.symbol]
            # Those of AArch64 name the section of a local function.
            value = relocation.addend or 0 if symbol.kind == elf.STT_SECTION else symbol.value & ~mark
            add(table.info, relocation.offset, (symbol.section, value))
    branches = _BRANCHES.get(machine)
    if branches is None:
        return found
    # Without -ffunction-sections the assembler knows how far a call goes, and writes no relocation; on RISC-V with
    # -mno-relax.
    for section in sorted({section for section, _ in outlined}):
        content = file.content(file.section(section))
        order = ">" if machine == _EM_ARM and file.header[0][5] == _IDENT_BIG_ENDIAN else "<"
        for start, end, _ in bodies[section] if len(bodies[section]) > 1 else ():
            for offset, distance in branches(content[start:end], order):
                add(section, start + offset, (section, start + offset + distance))
    return found


def _branches_of_aarch64(code: bytes, order: str) -> Iterator[tuple[int, int]]:
    """(offset, distance) of each B and BL. Args: order: of bytes; that of AArch64's instructions never changes."""
    del order
    for index, (word,) in enumerate(struct.iter_unpack("<I", code[: len(code) // 4 * 4])):
        if word & 0x7C000000 == 0x14000000:
            yield 4 * index, 4 * _signed(word, 26)


def _branches_of_thumb(code: bytes, order: str) -> Iterator[tuple[int, int]]:
    """(offset, distance) of each B and BL without a condition. Args: order: of bytes, "<" or ">"."""
    halves = [half for (half,) in struct.iter_unpack(f"{order}H", code[: len(code) // 2 * 2])]
    at = 0
    while at < len(halves):
        first = halves[at]
        is_wide = first >> 11 > 0b11100 and at + 1 < len(halves)
        if first >> 11 == 0b11100:
            yield 2 * at, 4 + 2 * _signed(first, 11)
        elif is_wide and first >> 11 == 0b11110 and halves[at + 1] & 0x9000 == 0x9000:
            second, sign = halves[at + 1], first >> 10 & 1
            # The two bits below the sign are stored as "equal to the sign".
            high = [sign ^ (second >> bit & 1) ^ 1 for bit in (13, 11)]
            distance = sign << 23 | high[0] << 22 | high[1] << 21 | (first & 0x3FF) << 11 | second & 0x7FF
            yield 2 * at, 4 + 2 * _signed(distance, 24)
        at += 2 if is_wide else 1


def _branches_of_riscv(code: bytes, order: str) -> Iterator[tuple[int, int]]:
    """(offset, distance) of each pair of AUIPC and JALR. Args: order: of bytes; the instructions' never changes."""
    del order
    at = 0
    while at + 8 <= len(code):
        high, low = struct.unpack_from("<II", code, at)
        if high & 0x7F == 0x17 and low & 0x707F == 0x67 and low >> 15 & 31 == high >> 7 & 31:
            yield at, _signed(high & 0xFFFFF000, 32) + _signed(low >> 20, 12)
        at += 4 if high & 3 == 3 else 2


def _signed(value: int, bits: int) -> int:
    """The lowest `bits` of `value` as a number with a sign."""
    low = value & ((1 << bits) - 1)
    return low - (low >> (bits - 1) << bits)


_BRANCHES = {_EM_ARM: _branches_of_thumb, _EM_AARCH64: _branches_of_aarch64, _EM_RISCV: _branches_of_riscv}
