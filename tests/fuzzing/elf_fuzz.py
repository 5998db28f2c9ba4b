"""ELF files: sections, symbols, relocations, and what code sizes and checks for emptiness make of them."""

from mlgo.compiler.code_size import code_of_object
from mlgo.compiler.empty_object import may_be_empty
from mlgo.compiler.fold_identity import fold_identities
from mlgo.corpus.elf import SHT_SYMTAB, ElfError, ElfFile
from mlgo.run.exit_codes import RunError
from tests.fuzzing import search


def run(content: bytes) -> None:
    may_be_empty(content)
    try:
        code = code_of_object(content, "input")
        assert all(function.size > 0 for function in code.functions)
        assert all(fold_identities(content, "input").values())
    except RunError:
        pass
    file = ElfFile.of_bytes(content)
    file.section_names()
    for table in file.sections_of_kind(SHT_SYMTAB):
        for symbol in file.symbols(table):
            assert symbol.section >= 0
    file.defined_names()
    for section in file.sections:
        file.content(section)


if __name__ == "__main__":
    search.main(search.Target(run, (ElfError,), words=[b"\x7fELF", b".symtab\0", b".text\0", b"\xff\xff"]))
