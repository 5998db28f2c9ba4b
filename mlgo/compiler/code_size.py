"""How much code an object holds, function by function.

Read from the ELF object in memory: llvm-size would be a process per compile, and reports no functions and no COMDATs.
"""

import dataclasses

from mlgo.compiler.outlined_code import charged
from mlgo.corpus import elf
from mlgo.corpus.elf import ElfError, ElfFile
from mlgo.run.exit_codes import RunError


@dataclasses.dataclass(frozen=True)
class FunctionCode:
    """The code of one function."""

    name: str
    #: bytes, padding left out, with its share of what the machine outliner moved out of it (outlined_code.py).
    size: int
    comdat: str | None  #: signature of its group, or None.


@dataclasses.dataclass(frozen=True)
class ObjectCode:
    """The code of one object."""

    functions: tuple[FunctionCode, ...]  #: sorted by name; of several names for one place the first.
    #: of all executable sections (elf.CODE_FLAGS), padding included; .eh_frame and constants are not code.
    code_bytes: int
    #: the column `text` of llvm-size: executable and read-only sections (llvm/tools/llvm-size/llvm-size.cpp,
    #: ELFObjectFile::isBerkeleyText).
    text_bytes: int


def code_of_object(content: bytes, name: str) -> ObjectCode:
    """The code in the ELF object `content` of module `name`. Raises: RunError: it is no ELF object, or damaged."""
    if not content.startswith(elf.MAGIC):
        raise RunError(f"object of {name}", "is no ELF file", "Compile for Linux")
    try:
        file = ElfFile.of_bytes(content)
        code = [section for section in file.sections if section.flags & elf.CODE_FLAGS == elf.CODE_FLAGS]
        text = filter(_is_text, file.sections)
        code_bytes, text_bytes = (sum(section.size for section in sections) for sections in (code, text))
        return ObjectCode(tuple(_functions(file)), code_bytes, text_bytes)
    except ElfError as error:
        raise damaged_object(name, error) from error


def damaged_object(name: str, error: ElfError) -> RunError:
    """What is said of an ELF object that cannot be read; `name` is the module's."""
    return RunError(f"object of {name}", f"is damaged: it {error}", "Compile it again")


def _is_text(section: elf.Section) -> bool:
    if not section.flags & elf.SHF_ALLOC or section.kind == elf.SHT_NOBITS:
        return False
    return bool(section.flags & elf.SHF_EXECINSTR) or not section.flags & elf.SHF_WRITE


def _functions(file: ElfFile) -> list[FunctionCode]:
    table = next(file.sections_of_kind(elf.SHT_SYMTAB), None)
    if table is None:
        return []
    names = file.content(file.section(table.link))
    symbols = list(file.symbols(table))
    comdats = _comdats(file, symbols, names)
    found: dict[tuple[int, int], tuple[str, int]] = {}
    for symbol in symbols:
        if symbol.kind not in (elf.STT_FUNC, elf.STT_GNU_IFUNC) or not symbol.section or not symbol.size:
            continue
        if not file.section(symbol.section).flags & elf.SHF_EXECINSTR:
            continue
        # Constructors of complete and base objects are usually one function with two names.
        place, function = (symbol.section, symbol.value), (elf.string_at(names, symbol.name), symbol.size)
        if place not in found or function[0] < found[place][0]:
            found[place] = function
    functions = [
        FunctionCode(found[place][0], size, comdats.get(place[0]))
        for place, size in charged(file, symbols, found).items()
    ]
    return sorted(functions, key=lambda function: function.name)


def _comdats(file: ElfFile, symbols: list[elf.Symbol], names: bytes) -> dict[int, str]:
    """Signature of the COMDAT group of each section that is in one."""
    result: dict[int, str] = {}
    for group in file.sections_of_kind(elf.SHT_GROUP):
        flags, *members = file.words(group) or (0,)
        if flags & elf.GRP_COMDAT:
            if group.info >= len(symbols):
                raise ElfError(f"refers to symbol {group.info} of {len(symbols)}")
            result |= dict.fromkeys(members, elf.string_at(names, symbols[group.info].name))
    return result
