"""Which functions a linker folds into one, as `ld.lld --icf=all` does (LLVM, lld/ELF/ICF.cpp).

It folds read-only sections whose bytes and relocations are equal and whose relocations point to equal things: to the
same symbol, to equal strings and constants, or to the same place of sections that are folded themselves. Here each
section gets a digest of all that, so that functions of one digest are one function in the image, also those of
different objects. An object is read alone: a function that it does not define is known by its name, and one that it
defines by its content, although the linker may take another copy. The linker misses equal strings and constants of one
object that it finds by the same section symbol; here they are equal.
"""

import hashlib
from collections.abc import Iterable, Iterator

from mlgo.compiler.code_size import damaged_object
from mlgo.corpus import elf
from mlgo.corpus.elf import ElfError, ElfFile, Relocation, Section, Symbol

#: How many calls deep functions are compared. On LLVM's held-out modules, 8 give the linker's result; 2 fold 1 % more.
_ROUNDS = 8
_DIGEST_BYTES = 12
_SHT_PROGBITS = 1
#: The linker keeps functions with an entry in such a section: two of them may catch different exceptions.
_EXCEPTION_TABLE = ".gcc_except_table"
_EH_FRAME = ".eh_frame"


def fold_identities(content: bytes, name: str) -> dict[str, str]:
    """Function → its digest; without functions that are never folded. All names of one function have the same.

    Args: name: of its module; distinguishes data that only the module can refer to.
    Raises: RunError: it is damaged.
    """
    try:
        return _Sections(ElfFile.of_bytes(content), name).functions()
    except ElfError as error:
        raise damaged_object(name, error) from error


class _Sections:
    """The sections of an object. Those that can be folded are called foldable."""

    def __init__(self, file: ElfFile, module: str):
        self._file, self._module = file, module
        self._names = file.names()
        table = next(file.sections_of_kind(elf.SHT_SYMTAB), None)
        self._symbols = [] if table is None else list(file.symbols(table))
        self._strings = b"" if table is None else file.content(file.section(table.link))
        self._relocations = {
            section.info: sorted(file.relocations(section), key=lambda relocation: relocation.offset)
            for section in file.sections
            if section.kind in (elf.SHT_REL, elf.SHT_RELA)
        }
        self._contents: dict[int, bytes] = {}
        kept = set(self._with_exceptions())
        self._foldable = {
            index
            for index, section in enumerate(file.sections)
            if index not in kept and _may_be_folded(section, self._names[index])
        }

    def functions(self) -> dict[str, str]:
        digests = self._digests()
        return {
            self._name(symbol): f"{digests[symbol.section].hex()}+{symbol.value}"
            for symbol in self._symbols
            if symbol.kind in (elf.STT_FUNC, elf.STT_GNU_IFUNC) and symbol.section in digests
        }

    def _digests(self) -> dict[int, bytes]:
        """Foldable section → digest of itself and of the foldable sections that it points to, _ROUNDS deep."""
        own = {index: self._own_digest(index) for index in self._foldable}
        targets = {index: list(self._folded_targets(index)) for index in self._foldable}
        digests = own
        for _ in range(_ROUNDS):
            digests = digests | {
                index: _digest((own[index], *(digests[target] for target in pointed)))
                for index, pointed in targets.items()
                if pointed
            }
        return digests

    def _own_digest(self, index: int) -> bytes:
        """Without what foldable targets hold."""
        section = self._file.sections[index]
        parts = [b"%d" % (section.flags & ~elf.SHF_GROUP), self._content(index)]
        for relocation in self._relocations.get(index, ()):
            parts += [b"%d %d" % (relocation.offset, relocation.kind), self._described(relocation)]
        return _digest(parts)

    def _folded_targets(self, index: int) -> Iterator[int]:
        for relocation in self._relocations.get(index, ()):
            symbol = self._symbol(relocation)
            if self._is_folded_target(symbol):
                yield symbol.section

    def _is_folded_target(self, symbol: Symbol) -> bool:
        if symbol.section not in self._foldable:
            return False
        # Data that other modules can name may be exported, and the addresses of exported data are kept apart.
        return not symbol.binding or bool(self._file.sections[symbol.section].flags & elf.SHF_EXECINSTR)

    def _described(self, relocation: Relocation) -> bytes:
        """What a relocation points to, as far as it is no content of foldable sections."""
        symbol, addend = self._symbol(relocation), relocation.addend
        if self._is_folded_target(symbol):
            return b"place %d %d" % (symbol.value, addend or 0)
        if symbol.section and self._file.section(symbol.section).flags & elf.SHF_MERGE:
            if symbol.kind != elf.STT_SECTION:
                return b"piece %d " % (addend or 0) + self._piece(symbol.section, symbol.value)
            if addend is not None:
                return b"piece 0 " + self._piece(symbol.section, addend)
        if symbol.binding:
            return b"name %d " % (addend or 0) + self._name(symbol).encode("utf-8", "surrogateescape")
        if symbol.reserved:
            return b"value %d %d" % (symbol.reserved, symbol.value + (addend or 0))
        place = b"local %d %d %d " % (symbol.section, symbol.value, addend or 0)
        return place + self._module.encode("utf-8", "surrogateescape")

    def _piece(self, index: int, offset: int) -> bytes:
        """What the linker merges of a section with strings or constants, and the place of `offset` in it."""
        section, content = self._file.section(index), self._content(index)
        size = max(1, section.entry_size)
        start, end = offset // size * size, offset // size * size + size
        if section.flags & elf.SHF_STRINGS and size == 1:
            start = content.rfind(b"\0", 0, max(0, offset)) + 1
            end = content.find(b"\0", max(0, offset)) + 1
        head = b"%d %d %d " % (section.flags & ~elf.SHF_GROUP, section.entry_size, offset - start)
        return head + content[max(0, start) : max(0, end)]

    def _with_exceptions(self) -> Iterator[int]:
        """Sections of functions with an entry in an exception table: a frame names the function, then its entry."""
        for index, name in enumerate(self._names):
            function = None
            for relocation in self._relocations.get(index, ()) if name == _EH_FRAME else ():
                target = self._symbol(relocation).section
                if self._file.section(target).flags & elf.SHF_EXECINSTR:
                    function = target
                elif function is not None and self._names[target].startswith(_EXCEPTION_TABLE):
                    yield function

    def _content(self, index: int) -> bytes:
        if index not in self._contents:
            self._contents[index] = self._file.content(self._file.sections[index])
        return self._contents[index]

    def _symbol(self, relocation: Relocation) -> Symbol:
        if relocation.symbol >= len(self._symbols):
            raise ElfError(f"refers to symbol {relocation.symbol} of {len(self._symbols)}")
        return self._symbols[relocation.symbol]

    def _name(self, symbol: Symbol) -> str:
        return elf.string_at(self._strings, symbol.name)


def _may_be_folded(section: Section, name: str) -> bool:
    if section.kind != _SHT_PROGBITS or name == _EH_FRAME or name.startswith(_EXCEPTION_TABLE):
        return False
    # Names that are C identifiers: a program may walk through such sections.
    if name in (".init", ".fini") or name.isidentifier():
        return False
    unsuitable = elf.SHF_WRITE | elf.SHF_MERGE | elf.SHF_LINK_ORDER
    return bool(section.flags & elf.SHF_ALLOC) and not section.flags & unsuitable


def _digest(parts: Iterable[bytes]) -> bytes:
    """A digest of `parts` and of where each ends."""
    hashed = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:
        hashed.update(b"%d:" % len(part))
        hashed.update(part)
    return hashed.digest()
