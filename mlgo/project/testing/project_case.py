"""A folder with sources, objects and fakes of programs, and what commands of a build would have made of them."""

import os
import pathlib
import struct
import tempfile
import unittest

from mlgo.project.command_line import Compile, Link
from mlgo.project.compiler import Compiler, compiler_at


class ProjectCase(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self) -> None:
        self.folder = pathlib.Path(os.path.realpath(self.enterContext(tempfile.TemporaryDirectory())))

    def write(self, name: str, content: bytes | str = b"") -> str:
        """Writes a file; its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    def program(self, name: str, text: str = "") -> pathlib.Path:
        """Writes a script of sh."""
        path = pathlib.Path(self.write(name, text if text.startswith("#!") else f"#!/bin/sh\n{text}"))
        path.chmod(0o755)
        return path

    def installed(self, text: str = "") -> Compiler:
        """A compiler whose programs are a script."""
        for name in ("bin/clang", "bin/ld.lld", "bin/llvm-ar", "lib/mlgo/record/clang"):
            self.program(f"prefix/{name}", text)
        return compiler_at(self.folder / "prefix")

    def unit(self, source: str, *words: str, output: str = "", by: str = "clang", seconds: float = 1.0) -> Compile:
        """A compile of a source in the folder. Args: output: path; "": one that is not there."""
        path = str(self.folder / source)
        made = str(self.folder / (output or f"absent/{source}.o"))
        return Compile("clang", str(self.folder), (source, *words), path, made, by, seconds, False)

    def link(self, *words: str, output: str = "program", seconds: float = 0.1) -> Link:
        """A link in the folder; what it makes is not there."""
        return Link("clang", str(self.folder), words, str(self.folder / output), "clang", seconds, ())


def elf(*sections: tuple[int, int, int, bytes], kind: int = 1, wide: bool = True, order: str = "<") -> bytes:
    """An ELF file for x86-64. Args: sections: type, flags, link, content. order: of bytes, as of `struct`."""
    header = struct.Struct(order + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"))
    entry = struct.Struct(order + ("IIQQQQIIQQ" if wide else "IIIIIIIIII"))
    begin, table, contents = 16 + header.size, b"", b""
    for section, flags, link, content in sections:
        size = 24 if section == 11 else 0
        table += entry.pack(0, section, flags, 0, begin + len(contents), len(content), link, 0, 1, size)
        contents += content
    fields = (kind, 62, 1, 0, 0, begin + len(contents), 0, begin, 0, 0, entry.size, len(sections), 0)
    ident = b"\x7fELF" + bytes([2 if wide else 1, 1 if order == "<" else 2, 1]) + bytes(9)
    return ident + header.pack(*fields) + contents + table


def elf_of_code(code: bytes, kind: int = 1) -> bytes:
    """An ELF file with one section of code."""
    return elf((0, 0, 0, b""), (1, 6, 0, code), kind=kind)


def elf_library(*names: str) -> bytes:
    """A shared library that exports functions of these names."""
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in names)
    places = [strings.index(b"\0" + name.encode() + b"\0") + 1 for name in names]
    symbols = bytes(24) + b"".join(struct.pack("<IBBHQQ", place, 0x12, 0, 1, 0, 1) for place in places)
    return elf((0, 0, 0, b""), (11, 2, 2, symbols), (3, 2, 0, strings), kind=3)
