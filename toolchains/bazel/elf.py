"""Reads the few facts of an x86-64 ELF file that relocation needs: interpreter, needed libraries, library name."""

import dataclasses
import struct
from typing import Callable, Dict, Iterable, List, Mapping, Optional, Tuple

MAGIC = b"\x7fELF"

# Numbers of the ELF specification (System V ABI, "Program Header" and "Dynamic Section").
_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NULL, _DT_NEEDED, _DT_STRTAB, _DT_SONAME = 0, 1, 5, 14
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
_DYNAMIC_ENTRY = struct.Struct("<qQ")


class ElfError(Exception):
    """Bytes that are no 64-bit little-endian ELF file; the message says which field does not fit."""


@dataclasses.dataclass(frozen=True)
class Elf:
    """Attributes:
    interpreter: path of the program interpreter, None for a library.
    needed: DT_NEEDED names in file order.
    soname: DT_SONAME, None if there is none.
    """

    interpreter: Optional[str]
    needed: Tuple[str, ...]
    soname: Optional[str]


def is_elf(data: bytes) -> bool:
    return data[:4] == MAGIC


def parse(data: bytes, origin: str) -> Elf:
    """Parses the bytes of an ELF file.

    Args:
        data: the whole file.
        origin: its name, for messages.
    Raises:
        ElfError: not ELF64 little-endian, or a table lies outside the file.
    """
    if not is_elf(data):
        raise ElfError(f"{origin}: not an ELF file (starts with {data[:4]!r}); fetch its package again")
    if data[4:6] != b"\x02\x01":
        raise ElfError(f"{origin}: not a 64-bit little-endian ELF file; only amd64 packages can be relocated")
    try:
        return _parse(data)
    except (struct.error, ValueError, IndexError) as error:
        raise ElfError(f"{origin}: truncated or damaged ELF file ({error}); fetch its package again") from None


def _parse(data: bytes) -> Elf:
    header = _HEADER.unpack_from(data, 0)
    table, entry_size, count = header[5], header[9], header[10]
    segments = [_PROGRAM_HEADER.unpack_from(data, table + index * entry_size) for index in range(count)]
    loads = [(address, offset, size) for kind, _, offset, address, _, size, _, _ in segments if kind == _PT_LOAD]
    interpreter = None
    dynamic: List[Tuple[int, int]] = []
    for kind, _, offset, _, _, size, _, _ in segments:
        if offset + size > len(data) and kind in (_PT_DYNAMIC, _PT_INTERP):
            raise ValueError("segment ends beyond the file")
        if kind == _PT_INTERP:
            interpreter = _string(data, offset)
        elif kind == _PT_DYNAMIC:
            dynamic = _dynamic_entries(data, offset, size)
    tags = dict(dynamic)
    if _DT_STRTAB not in tags:
        return Elf(interpreter, (), None)
    strings = _file_offset(loads, tags[_DT_STRTAB])
    needed = tuple(_string(data, strings + value) for tag, value in dynamic if tag == _DT_NEEDED)
    soname = _string(data, strings + tags[_DT_SONAME]) if _DT_SONAME in tags else None
    return Elf(interpreter, needed, soname)


def _dynamic_entries(data: bytes, offset: int, size: int) -> List[Tuple[int, int]]:
    found = []
    for position in range(offset, offset + size, _DYNAMIC_ENTRY.size):
        tag, value = _DYNAMIC_ENTRY.unpack_from(data, position)
        if tag == _DT_NULL:
            break
        found.append((tag, value))
    return found


def _file_offset(loads: Iterable[Tuple[int, int, int]], address: int) -> int:
    for start, offset, size in loads:
        if start <= address < start + size:
            return offset + address - start
    raise ValueError(f"address {address:#x} is in no segment")


def _string(data: bytes, offset: int) -> str:
    return data[offset : data.index(b"\0", offset)].decode("ascii")


def missing_libraries(roots: Mapping[str, Elf], find: Callable[[str], Optional[Elf]]) -> Dict[str, str]:
    """Library names reachable through DT_NEEDED which `find` does not know.

    Args:
        roots: name -> parsed file, where the walk starts.
        find: library name -> parsed library, None when it is not there.
    Returns:
        missing name -> the first file seen to need it; empty when the closure is complete.
    """
    missing: Dict[str, str] = {}
    seen = set()
    todo = list(roots.items())
    while todo:
        name, elf = todo.pop()
        for needed in elf.needed:
            if needed in seen:
                continue
            seen.add(needed)
            library = find(needed)
            if library is None:
                missing[needed] = name
            else:
                todo.append((needed, library))
    return missing
