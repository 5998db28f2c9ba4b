"""Relocations of static programs by GNU ld, which llvm-strip refuses as they are."""

import unittest

from mlgo.corpus.elf import ElfFile
from mlgo.project.size import without_removed_tables
from mlgo.project.testing.project_case import elf

_RELA, _SYMTAB, _DYNSYM, _ALLOC = 4, 2, 11, 2


class SizeTest(unittest.TestCase):
    def test_a_loaded_relocation_names_no_table_that_is_removed(self):
        for wide in (True, False):
            for order in "<>":
                # Of a static program, of -q, of a dynamic program; the tables.
                given = [(0, 0, 0, b""), (_RELA, _ALLOC, 4, b""), (_RELA, 0, 4, b""), (_RELA, _ALLOC, 5, b"")]
                given += [(_SYMTAB, 0, 0, b""), (_DYNSYM, _ALLOC, 0, b"")]
                made = without_removed_tables(elf(*given, kind=2, wide=wide, order=order))
                links = [section.link for section in ElfFile.of_bytes(made).sections]
                self.assertEqual(links, [0, 0, 4, 5, 0, 0], (wide, order))
                given[1] = (_RELA, _ALLOC, 0, b"")
                self.assertEqual(made, elf(*given, kind=2, wide=wide, order=order))

    def test_what_is_damaged_stays_as_it_is(self):
        whole = elf((0, 0, 0, b""), (_RELA, _ALLOC, 99, b""), kind=2)
        for content in (b"", b"text", whole, whole[:-1], whole[:40]):
            self.assertEqual(without_removed_tables(content), content)
