"""Sizes of a linked program."""

from __future__ import annotations

import lzma
import os
import pathlib
from typing import NamedTuple

from mlgo.corpus.elf import CODE_FLAGS, ElfError, ElfFile
from mlgo.project import child
from mlgo.project.compiler import Compiler
from mlgo.run.exit_codes import RunError

# e_machine (System V ABI) -> name.
_MACHINES = {3: "i386", 8: "MIPS", 20: "PowerPC", 21: "PowerPC64", 22: "s390x", 40: "Arm", 62: "x86-64", 183: "AArch64"}
_MACHINES[243] = "RISC-V"
_MACHINE_OFFSET = 18


class Size(NamedTuple):
    """Bytes of a program.

    Attributes:
      code: of its executable sections.
      file: of the file without symbols and debug information.
      compressed: of that file, compressed by xz.
    """

    code: int
    file: int
    compressed: int


def size_of(program: pathlib.Path, scratch: pathlib.Path, compiler: Compiler) -> Size:
    """Measures a program. Raises: RunError: it is no ELF file."""
    code = code_bytes(program)
    if code is None:
        raise RunError(str(program), "is no ELF program", "Name another with --program=")
    scratch.mkdir(parents=True, exist_ok=True)
    stripped = scratch / "stripped"
    ended = child.run([compiler.tool("llvm-strip"), "-o", str(stripped), str(program)], str(scratch))
    if ended.code:
        raise RunError(str(program), f"cannot be stripped: {ended.reason}", "Name another with --program=")
    content = stripped.read_bytes()
    stripped.unlink()
    return Size(code, len(content), len(lzma.compress(content)))


def code_bytes(path: str | os.PathLike[str]) -> int | None:
    """Bytes of the executable sections of an ELF file; None: it is none."""
    try:
        elf = ElfFile.of_bytes(pathlib.Path(path).read_bytes())
        return sum(section.size for section in elf.sections if section.flags & CODE_FLAGS == CODE_FLAGS)
    except (OSError, ElfError):
        return None


def machine_of(path: str) -> str:
    """Name of the architecture that an ELF file is for."""
    with open(path, "rb") as file:
        begin = file.read(_MACHINE_OFFSET + 2)
    number = int.from_bytes(begin[_MACHINE_OFFSET:], "little" if begin[5:6] == b"\1" else "big")
    return _MACHINES.get(number, f"machine {number}")
