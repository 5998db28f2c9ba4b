"""Finds ThinLTO compiles which end well and have lost their module.

clang compiles an empty module instead of the given one, with exit code 0, when the bitcode holds no module of ThinLTO's (it
was saved after importing and `-thinlto-assume-merged` is missing), and when the index says that the link needed nothing of
it (clang/lib/CodeGen/BackendUtil.cpp, emitBackendOutput). What a policy would learn of it is nothing.
"""

import re

from mlgo.compiler import code_size
from mlgo.corpus import elf
from mlgo.run.exit_codes import RunError

#: No object with code of any format is smaller than this one's limit, and no empty one larger: clang's empty ELF object
#: has 700 bytes, COFF and Mach-O less.
MAX_EMPTY_BYTES = 4096

#: A function that needs no register beside those that the calling convention names is not allocated, and logs no context
#: (llvm/lib/CodeGen/RegAllocGreedy.cpp, hasVirtRegAlloc). The largest of 425 modules' had 11 bytes, frame pointer and all.
MAX_TRIVIAL_BYTES = 16

# Definitions which an object must have, whatever is optimised: their linkage lets nobody drop them (llvm/docs/LangRef.rst).
_DROPPABLE = r"(?:private|internal|available_externally|linkonce|linkonce_odr|external|extern_weak)\b"
_KEPT = re.compile(
    rf"""
      ^define\ (?!{_DROPPABLE})
    | ^@(?!llvm\.)(?:"[^"]*"|[^\s"=]+)\ =\ (?!{_DROPPABLE})
    | ^@llvm\.global_(?:ctors|dtors)\ =
    | ^module\ asm\b
    """,
    re.VERBOSE | re.MULTILINE,
)


def is_bitcode(content: bytes) -> bool:
    """Whether a compile was asked for bitcode and gave it."""
    return content.startswith(b"BC\xc0\xde")


def is_trivial(path: str) -> bool:
    """Whether the file is an ELF object in which no function is larger than MAX_TRIVIAL_BYTES: there was nothing to decide."""
    try:
        with open(path, "rb") as file:
            code = code_size.code_of_object(file.read(), path)
    except (FileNotFoundError, RunError):
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
