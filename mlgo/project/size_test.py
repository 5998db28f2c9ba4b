"""Relocations of static programs by GNU ld, which llvm-strip refuses as they are."""

import struct
import unittest

from mlgo.corpus.elf import ElfFile
from mlgo.project.size import without_removed_tables

_RELA, _SYMTAB, _DYNSYM, _ALLOC = 4, 2, 11, 2


def elf(sections, wide=True, order="<"):
    """An ELF file with these sections: (type, flags, link)."""
    header = struct.Struct(order + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"))
    entry = struct.Struct(order + ("IIQQQQIIQQ" if wide else "IIIIIIIIII"))
    ident = b"\x7fELF" + bytes([2 if wide else 1, 1 if order == "<" else 2, 1]) + bytes(9)
    fields = (2, 62, 1, 0, 0, 16 + header.size, 0, 0, 0, 0, entry.size, len(sections), 0)
    table = b"".join(entry.pack(0, kind, flags, 0, 0, 0, link, 0, 0, 0) for kind, flags, link in sections)
    return ident + header.pack(*fields) + table


class SizeTest(unittest.TestCase):
    def test_a_loaded_relocation_names_no_table_that_is_removed(self):
        for wide in (True, False):
            for order in "<>":
                # Of a static program, of -q, of a dynamic program; the tables.
                given = [(0, 0, 0), (_RELA, _ALLOC, 4), (_RELA, 0, 4), (_RELA, _ALLOC, 5), (_SYMTAB, 0, 0)]
                given.append((_DYNSYM, _ALLOC, 0))
                made = without_removed_tables(elf(given, wide, order))
                links = [section.link for section in ElfFile.of_bytes(made).sections]
                self.assertEqual(links, [0, 0, 4, 5, 0, 0], (wide, order))
                given[1] = (_RELA, _ALLOC, 0)
                self.assertEqual(made, elf(given, wide, order))

    def test_what_is_damaged_stays_as_it_is(self):
        whole = elf([(0, 0, 0), (_RELA, _ALLOC, 99)])
        for content in (b"", b"text", whole, whole[:-1], whole[:40]):
            self.assertEqual(without_removed_tables(content), content)


if __name__ == "__main__":
    unittest.main()
