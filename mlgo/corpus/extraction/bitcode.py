"""What kind of LLVM bitcode a piece of a file is, and how many modules it has (llvm/docs/BitCodeFormat.rst)."""

from collections.abc import Iterator

from mlgo.corpus.bitstream import Unreadable, module_block, records

MAGIC = b"BC\xc0\xde"
WRAPPER_MAGIC = b"\xde\xc0\x17\x0b"

_MODULE_BLOCK, _STRING_TABLE_BLOCK = 8, 23
#: The variable in which embedBitcodeInModule (llvm/lib/Bitcode/Writer/BitcodeWriter.cpp) puts bitcode for the object.
_EMBEDDED = b"llvm.embedded.module"
#: The blocks in which a compile for LTO leaves a summary of its module (llvm/include/llvm/Bitcode/LLVMBitCodes.h).
_SUMMARY_BLOCK, _FULL_SUMMARY_BLOCK = 20, 24
#: Kinds of LTO, as -flto= names them.
THIN, FULL = "thin", "full"
_MOST_PADDING = 64


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
        if word & 0b11 != 1:  # ENTER_SUBBLOCK in abbreviations of two bits.
            return
        end = position + 8 + 4 * int.from_bytes(content[position + 4 : position + 8], "little")
        yield (word >> 2) & 0xFF, content[position:end]
        position = end


def lto_kind(content: bytes) -> str | None:
    """The kind of LTO that the first module in `content` was compiled for; None: for none, or it cannot be read."""
    try:
        _, bits, width = module_block(content)
        for code, values in records(bits, width):
            if code < 0 and values[0] in (_SUMMARY_BLOCK, _FULL_SUMMARY_BLOCK):
                return THIN if values[0] == _SUMMARY_BLOCK else FULL
    except Unreadable:
        pass
    return None
