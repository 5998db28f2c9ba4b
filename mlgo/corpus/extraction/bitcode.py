"""Counts the LLVM bitcode modules in a piece of a file (llvm/docs/BitCodeFormat.rst)."""

MAGIC = b"BC\xc0\xde"
WRAPPER_MAGIC = b"\xde\xc0\x17\x0b"

_MODULE_BLOCK = 8
_MOST_PADDING = 64


def is_bitcode(content: bytes) -> bool:
    """Whether `content` starts as bitcode does, with or without Apple's wrapper."""
    return content.startswith((MAGIC, WRAPPER_MAGIC))


def module_count(content: bytes) -> int:
    """How many modules follow each other: usually 1, more after `ld -r` has joined sections.

    Top-level blocks are skipped by their lengths. A broken block ends the count; LLVM validates the bitcode.
    """
    count = 0
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
                break
            position += 4
            continue
        if word & 0b11 != 1:  # ENTER_SUBBLOCK in abbreviations of two bits.
            break
        count += (word >> 2) & 0xFF == _MODULE_BLOCK
        position += 8 + 4 * int.from_bytes(content[position + 4 : position + 8], "little")
    return count
