"""How much of a module's bitcode is code: the bodies of its functions.

Names, types and debug information take most of some modules and say little about what compiling them costs.
Source of the number: llvm/include/llvm/Bitcode/LLVMBitCodes.h of LLVM 22.1.8.
"""

from mlgo.corpus.bitstream import Bits, Unreadable, module_block, records

_FUNCTION_BLOCK = 12
_WORD_BITS = 32


def function_bytes(content: bytes) -> int:
    """Bytes of bitcode in the bodies of functions; of bitcode that is damaged or in another format, all bytes."""
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
