"""Sizes of a linked program."""

from __future__ import annotations

import lzma
import os
import pathlib
import shutil

from mlgo.corpus.elf import CODE_FLAGS, SHF_ALLOC, SHT_REL, SHT_RELA, ElfError, ElfFile
from mlgo.project import steps
from mlgo.project.compiler import Compiler
from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import beginning_of, read_regular

# e_machine (System V ABI) -> name.
_MACHINES = {3: "i386", 8: "MIPS", 20: "PowerPC", 21: "PowerPC64", 22: "s390x", 40: "Arm"}
_MACHINES |= {62: "x86-64", 183: "AArch64", 243: "RISC-V"}
_MACHINE_OFFSET = 18
# 11, the default, takes a second for 0.5 MB and makes files 3 % smaller.
_BROTLI_QUALITY = "9"


def has_brotli() -> bool:
    """Whether the machine has the program brotli."""
    return shutil.which("brotli") is not None


def size_of(program: pathlib.Path, scratch: pathlib.Path, compiler: Compiler) -> dict[str, int]:
    """Bytes of a program. Raises: RunError: it is no ELF file.

    Returns: "code": of executable sections. "file": of the file without symbols and debug information. "xz", and where
      the machine has it "brotli": of that file, compressed.
    """
    code = code_bytes(program)
    if code is None:
        raise RunError(str(program), "is no ELF program", "Name another with --program=")
    scratch.mkdir(parents=True, exist_ok=True)
    stripped, given = scratch / "stripped", program
    content = program.read_bytes()
    readable = without_removed_tables(content)
    if readable != content:
        stripped.write_bytes(readable)
        given = stripped
    # LLVM's tools read a % in the name of an output as a place for a random letter.
    ended = steps.run([compiler.tool("llvm-strip"), "-o", stripped.name, str(given)], str(scratch))
    if ended.code:
        raise RunError(str(program), f"cannot be stripped: {ended.reason}", "Name another with --program=")
    content = stripped.read_bytes()
    found = {"code": code, "file": len(content), "xz": len(lzma.compress(content))}
    if has_brotli():
        packed = scratch / "packed"
        if not steps.run(["brotli", "-q", _BROTLI_QUALITY, "-f", "-o", str(packed), str(stripped)], str(scratch)).code:
            found["brotli"] = packed.stat().st_size
            packed.unlink()
    stripped.unlink()
    return found


def without_removed_tables(content: bytes) -> bytes:
    """An ELF file in which no relocation that is loaded refers to a symbol table that is not.

    GNU ld writes that into static programs, and llvm-strip refuses them.
    """
    try:
        elf = ElfFile.of_bytes(content)
        wrong = {
            index: section._replace(link=0)
            for index, section in enumerate(elf.sections)
            if section.kind in (SHT_REL, SHT_RELA)
            and section.flags & SHF_ALLOC
            and not elf.section(section.link).flags & SHF_ALLOC
        }
    except ElfError:
        return content
    return elf.with_sections(content, wrong)


def code_bytes(path: str | os.PathLike[str]) -> int | None:
    """Bytes of the executable sections of an ELF file; None: it is none."""
    try:
        elf = ElfFile.of_bytes(read_regular(path))
        return sum(section.size for section in elf.sections if section.flags & CODE_FLAGS == CODE_FLAGS)
    except (OSError, ElfError):
        return None


def machine_of(path: str) -> str:
    """Name of the architecture that an ELF file is for."""
    begin = beginning_of(path, _MACHINE_OFFSET + 2)
    number = int.from_bytes(begin[_MACHINE_OFFSET:], "little" if begin[5:6] == b"\1" else "big")
    return _MACHINES.get(number, f"machine {number}")
