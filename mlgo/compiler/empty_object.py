"""Detects ThinLTO compiles that succeed and have lost their module, from which no policy can learn.

clang compiles an empty module instead of the given one, with exit code 0, if the bitcode was saved after importing and
`-thinlto-assume-merged` is missing, or if the index says that the link needed nothing of the module
(clang/lib/CodeGen/BackendUtil.cpp, emitBackendOutput).
"""

import re

from mlgo.compiler import code_size
from mlgo.compiler.request import CompileLimits
from mlgo.corpus import elf
from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import read_regular

#: No empty object is larger: clang's empty ELF object has 700 bytes, COFF and Mach-O less.
MAX_EMPTY_BYTES = 4096

#: A function that uses only the calling convention's registers is not allocated, and logs no context
#: (llvm/lib/CodeGen/RegAllocGreedy.cpp, hasVirtRegAlloc). The largest such function in 425 modules had 11 bytes.
MAX_TRIVIAL_BYTES = 16

# Definitions that no optimisation may drop, because of their linkage (llvm/docs/LangRef.rst), and assembly, except for
# former names of what ThinLTO renamed: they count only where it is defined (ThinLTOBitcodeWriter.cpp).
_DROPPABLE = r"(?:private|internal|available_externally|linkonce|linkonce_odr|external|extern_weak)\b"
_KEPT = re.compile(
    rf"""
      ^define\ (?!{_DROPPABLE})
    | ^@(?!llvm\.)(?:"[^"]*"|[^\s"=]+)\ =\ (?!{_DROPPABLE})
    | ^@llvm\.global_(?:ctors|dtors)\ =
    | ^module\ asm\ (?!"\.lto_set_conditional\ )
    """,
    re.VERBOSE | re.MULTILINE,
)


def is_bitcode(content: bytes) -> bool:
    """Whether a compile was asked for bitcode and gave it."""
    return content.startswith(b"BC\xc0\xde")


def is_trivial(path: str) -> bool:
    """Whether the file is an ELF object without functions larger than MAX_TRIVIAL_BYTES: it needed no decision."""
    try:
        code = code_size.code_of_object(read_regular(path, CompileLimits().object_bytes), path)
    except (OSError, RunError):
        return False
    return all(function.size <= MAX_TRIVIAL_BYTES for function in code.functions)


def may_be_empty(object_bytes: bytes) -> bool:
    """Whether an object may be without code and data. True for every small object that is not ELF."""
    if len(object_bytes) > MAX_EMPTY_BYTES:
        return False
    try:
        file = elf.ElfFile.of_bytes(object_bytes)
        in_memory = any(section.flags & elf.SHF_ALLOC and section.size for section in file.sections)
        return not in_memory and not file.defined_names()
    except elf.ElfError:
        return True


def defines_something(textual_ir: str) -> bool:
    """Whether a module, as LLVM prints it, defines what every object made of it must contain."""
    return _KEPT.search(textual_ir) is not None
