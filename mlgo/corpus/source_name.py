"""Reads from bitcode which source file it was compiled from.

Source of the record: llvm/lib/Bitcode/Writer/BitcodeWriter.cpp of LLVM 22.1.8 (writeModuleInfo); of its number:
llvm/include/llvm/Bitcode/LLVMBitCodes.h.
"""

from mlgo.corpus.bitstream import Unreadable, module_block, records

_SOURCE_FILENAME = 16


def source_name(content: bytes) -> str | None:
    """The source file as the compiler was given it; None: not stated, or not bitcode in today's format."""
    try:
        _, bits, width = module_block(content)
        for code, values in records(bits, width):
            if code == _SOURCE_FILENAME:
                return bytes(value & 0xFF for value in values).decode("utf-8", "surrogateescape")
    except Unreadable:
        pass
    return None
