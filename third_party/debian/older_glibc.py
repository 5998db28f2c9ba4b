"""Run by `debian.tree`: makes the programs and libraries below the current directory run with the glibc of Debian 12.

The loader refuses a file that needs a version of glibc which the machine does not have. Such a file uses few functions
of the newer version, and each has an older form: `__isoc23_strtol@GLIBC_2.38` is `strtol` (C23 only adds binary
literals, for base 0 and 2), and `fmod@GLIBC_2.38` is `fmod@GLIBC_2.2.5` (which sets errno besides). `bind` makes a file
ask for these older forms.
"""

import os
import pathlib
import re
import struct
import sys
from typing import Dict, List, Optional, Set, Tuple

import tree
from unpack import UnpackError

#: glibc of Debian 12, which every program of this workspace may need.
NEWEST = (2, 36)
#: What glibc calls the functions that read numbers as C23 does; the rest of the name is the older function's.
_C23 = "__isoc23_"

# Numbers of the ELF specification and of glibc's elf.h.
_DYNSYM, _VERNEED, _VERSYM = 11, 0x6FFFFFFE, 0x6FFFFFFF
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_NEED = struct.Struct("<HHIII")
_NEEDED_VERSION = struct.Struct("<IHHII")


def glibc_version(name: str) -> Optional[Tuple[int, ...]]:
    """(2, 38) of `GLIBC_2.38`; None of a version of another library."""
    match = re.fullmatch(r"GLIBC_(\d+(?:\.\d+)+)", name)
    return tuple(int(part) for part in match[1].split(".")) if match else None


def bind(data: bytearray, origin: str) -> List[str]:
    """Makes a 64-bit little-endian ELF file need no glibc newer than Debian 12's, in place.

    Args:
        data: the file.
        origin: its name, for messages.
    Returns: the names of the functions that it took from a newer version.
    Raises:
        UnpackError: a table lies outside the file, or it names no older version to take instead.
    """
    try:
        return _bind(data)
    except (struct.error, ValueError, IndexError) as error:
        raise UnpackError(f"{origin}: cannot be bound to Debian 12's glibc ({error}); exclude the file") from None


def _bind(data: bytearray) -> List[str]:
    table = struct.unpack_from("<Q", data, 40)[0]
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [_SECTION.unpack_from(data, table + index * size) for index in range(count)]
    # sh_type -> sh_offset, sh_size, offset of the strings, sh_info
    found = {one[1]: (one[4], one[5], sections[one[6]][4], one[7]) for one in sections}
    if not {_DYNSYM, _VERNEED, _VERSYM} <= found.keys():
        return []
    start, _, strings, files = found[_VERNEED]
    newer = _take_oldest_version(data, start, strings, files)
    symbols, length, strings, _ = found[_DYNSYM]
    versions = found[_VERSYM][0]
    functions = []
    for index in range(length // _SYMBOL.size if newer else 0):
        place = symbols + index * _SYMBOL.size
        name, _, _, section, _, _ = _SYMBOL.unpack_from(data, place)
        version = struct.unpack_from("<H", data, versions + 2 * index)[0] & 0x7FFF
        # Only symbols of other files: their st_shndx is SHN_UNDEF.
        if section or version not in newer:
            continue
        functions.append(_string(data, strings + name))
        if functions[-1].startswith(_C23):
            struct.pack_into("<I", data, place, name + len(_C23))
    return functions


def _take_oldest_version(data: bytearray, start: int, strings: int, files: int) -> Set[int]:
    """Replaces the versions that Debian 12 does not have by the oldest that the file needs; returns their indices."""
    places: Dict[int, Tuple[int, ...]] = {}
    for _ in range(files):
        _, versions, _, offset, step = _NEED.unpack_from(data, start)
        place = start + offset
        for _ in range(versions):
            _, _, _, name, following = _NEEDED_VERSION.unpack_from(data, place)
            version = glibc_version(_string(data, strings + name))
            if version:
                places[place] = version
            place += following
        start += step
    newer = [place for place, version in places.items() if version[:2] > NEWEST]
    if not newer:
        return set()
    oldest = min(places, key=lambda place: places[place])
    if oldest in newer:
        raise ValueError("it needs no version of glibc that Debian 12 has")
    digest, _, _, name, _ = _NEEDED_VERSION.unpack_from(data, oldest)
    indices = set()
    for place in newer:
        _, flags, index, _, following = _NEEDED_VERSION.unpack_from(data, place)
        _NEEDED_VERSION.pack_into(data, place, digest, flags, index, name, following)
        indices.add(index & 0x7FFF)
    return indices


def _string(data: bytearray, start: int) -> str:
    return data[start : data.index(0, start)].decode("ascii")


def bind_tree(root: pathlib.Path) -> None:
    """`bind` for every program and shared library below `root`; their times stay."""
    for path in tree.dynamic_elf_files(root):
        data = bytearray(path.read_bytes())
        stamp = path.stat().st_mtime
        if bind(data, str(path.relative_to(root))):
            path.write_bytes(data)
            os.utime(path, (stamp, stamp))


def main() -> int:
    try:
        bind_tree(pathlib.Path.cwd())
    except UnpackError as error:
        print(f"debian: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
