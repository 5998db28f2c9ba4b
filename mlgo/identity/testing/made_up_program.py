"""ELF programs and shared libraries that need libraries, as the loader reads them; they do not run."""

import struct
from collections.abc import Sequence

_ADDRESS = 0x400000
_PT_LOAD, _PT_DYNAMIC, _ET_DYN, _X86_64 = 1, 2, 3, 62
_DT_NEEDED, _DT_STRTAB, _DT_STRSZ, _DT_RUNPATH = 1, 5, 10, 29
_HEADER, _SEGMENT, _ENTRY = struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQQQ"), struct.Struct("<qQ")


def program(needed: Sequence[str] = (), run_path: str = "", content: bytes = b"", machine: int = _X86_64) -> bytes:
    """A 64-bit program for `machine` without sections. Args: content: what else is in it."""
    names = [(_DT_NEEDED, name) for name in needed] + ([(_DT_RUNPATH, run_path)] if run_path else [])
    strings, entries = b"\0", []
    for tag, name in names:
        entries.append((tag, len(strings)))
        strings += name.encode() + b"\0"
    begin = _HEADER.size + 2 * _SEGMENT.size
    dynamic_bytes = (len(entries) + 3) * _ENTRY.size
    entries += [(_DT_STRTAB, _ADDRESS + begin + dynamic_bytes), (_DT_STRSZ, len(strings)), (0, 0)]
    body = b"".join(_ENTRY.pack(*entry) for entry in entries) + strings + content
    whole = begin + len(body)
    ident = b"\x7fELF\2\1\1" + bytes(9)
    segments = [
        (_PT_LOAD, 5, 0, _ADDRESS, _ADDRESS, whole, whole, 4096),
        (_PT_DYNAMIC, 6, begin, _ADDRESS + begin, _ADDRESS + begin, dynamic_bytes, dynamic_bytes, 8),
    ]
    header = _HEADER.pack(ident, _ET_DYN, machine, 1, 0, _HEADER.size, 0, 0, _HEADER.size, _SEGMENT.size, 2, 0, 0, 0)
    return header + b"".join(_SEGMENT.pack(*segment) for segment in segments) + body
