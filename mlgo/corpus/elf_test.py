import struct
import unittest

from hypothesis import given, settings
from hypothesis import strategies as st

from mlgo.corpus import elf
from mlgo.corpus.elf import ElfError, ElfFile, exported_names

_NAMES = b"\0.text\0.symtab\0.bss\0code\0"


def file_of(wide: bool, order: str, extended: bool = False) -> bytes:
    """A relocatable object with code, a symbol for it, an absolute one and an undefined one, and .bss.

    Args: extended: numbers of sections stand where files with more than 65,279 sections have them.
    """
    symbol_format = order + ("IBBHQQ" if wide else "IIIBBH")

    def symbol(name: int, information: int, section: int, value: int, size: int) -> bytes:
        if wide:
            return struct.pack(symbol_format, name, information, 0, section, value, size)
        return struct.pack(symbol_format, name, value, size, information, 0, section)

    first = 0xFFFF if extended else 1
    symbols = symbol(0, 0, 0, 0, 0) + symbol(20, 0x12, first, 4, 3) + symbol(1, 0x10, 0xFFF1, 9, 0)
    contents = [b"\xcc" * 8, symbols, _NAMES, struct.pack(order + "3I", 0, 1, 0)]
    section_format, header_bytes = order + ("IIQQQQIIQQ" if wide else "IIIIIIIIII"), 64 if wide else 52
    offsets = [header_bytes]
    for content in contents:
        offsets.append(offsets[-1] + len(content))
    headers = [
        (0, 0, 0, 0, 0, 6 if extended else 0, 3 if extended else 0, 0, 0, 0),
        (1, 1, 6, 0, offsets[0], 8, 0, 0, 1, 0),
        (7, elf.SHT_SYMTAB, 0, 0, offsets[1], len(symbols), 3, 1, 1, 0),
        (0, 3, 0, 0, offsets[2], len(_NAMES), 0, 0, 1, 0),
        (15, elf.SHT_NOBITS, 3, 0, offsets[4], 1 << 30, 0, 0, 1, 0),
        (0, elf.SHT_SYMTAB_SHNDX, 0, 0, offsets[3], 12, 2, 0, 1, 0),
    ]
    header = struct.pack(
        order + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"),
        *(1, 0, 1, 0, 0, offsets[4], 0, header_bytes, 0, 0, struct.calcsize(section_format)),
        *((0, 0xFFFF) if extended else (6, 3)),
    )
    ident = b"\x7fELF" + bytes([1 + wide, 1 if order == "<" else 2]) + bytes(10)
    return ident + header + b"".join(contents) + b"".join(struct.pack(section_format, *fields) for fields in headers)


VARIANTS = [(wide, order, extended) for wide in (True, False) for order in "<>" for extended in (True, False)]


class ReadingTest(unittest.TestCase):
    def test_what_a_library_exports(self):
        for wide in (True, False):
            content = file_of(wide, "<")
            self.assertEqual(exported_names(content), set())
            file = ElfFile.of_bytes(content)
            table = file.section(2)._replace(kind=elf.SHT_DYNSYM)
            # The absolute symbol is in no section.
            self.assertEqual(exported_names(file.with_sections(content, {2: table})), {"code"})
        self.assertEqual(exported_names(b"no ELF file"), set())

    def test_every_variant(self):
        for variant in VARIANTS:
            with self.subTest(variant):
                file = ElfFile.of_bytes(file_of(*variant))
                names = file.section_names()
                found = [elf.string_at(names, section.name) for section in file.sections]
                self.assertEqual(found, ["", ".text", ".symtab", "", ".bss", ""])
                self.assertEqual(file.content(file.sections[1]), b"\xcc" * 8)
                self.assertEqual((file.sections[4].size, file.content(file.sections[4])), (1 << 30, b""))
                _, code, absolute = file.symbols(file.sections[2])
                self.assertEqual(code, elf.Symbol(20, elf.STT_FUNC, True, 1, 4, 3, 1, 0, 0))
                self.assertEqual((absolute.is_defined, absolute.section, absolute.reserved), (True, 0, 0xFFF1))
                self.assertEqual(file.defined_names(), {"code", ".text"})

    def test_what_is_no_elf_file(self):
        for content, expected in (
            (b"BC\xc0\xde" + bytes(60), "is no ELF file"),
            (b"\x7fELF", "is cut off: bytes 0 to 16 of 4 are needed"),
            (b"\x7fELF\3\1" + bytes(60), "is ELF of class 3 and byte order 1"),
        ):
            with self.assertRaisesRegex(ElfError, expected):
                ElfFile.of_bytes(content)


def read_everything(content: bytes) -> None:
    file = ElfFile.of_bytes(content)
    names = file.section_names()
    for section in file.sections:
        elf.string_at(names, section.name)
        file.words(section)
        list(file.symbols(section))
    file.defined_names()
    file.dynamic_strings(elf.DT_NEEDED)


class DamageTest(unittest.TestCase):
    @settings(deadline=None, max_examples=300)
    @given(
        st.sampled_from(VARIANTS),
        st.lists(st.tuples(st.integers(0, 1 << 12), st.binary(min_size=1, max_size=8)), min_size=1, max_size=6),
    )
    def test_damaged_bytes_raise_nothing_but_elf_errors(self, variant, damage):
        content = bytearray(file_of(*variant))
        for place, data in damage:
            place %= len(content)
            content[place : place + len(data)] = data
        try:
            read_everything(bytes(content))
        except ElfError:
            pass

    def test_names_that_overlap_fill_no_memory(self):
        strings = b"\0" + b"a" * (1 << 20) + b"\0"
        symbols = b"".join(struct.pack("<IBBHQQ", 1 + place, 0x12, 0, 1, 0, 1) for place in range(200))
        content = file_of(True, "<")
        file, begin = ElfFile.of_bytes(content + symbols + strings), len(content)
        table = file.section(2)._replace(offset=begin, size=len(symbols), link=1)
        file.sections = [table, file.section(3)._replace(offset=begin + len(symbols), size=len(strings))]
        with self.assertRaisesRegex(ElfError, "has names of more than 8 times the 1048578 bytes"):
            file.defined_names()
        file.sections.append(table)
        with self.assertRaisesRegex(ElfError, "has 2 tables of symbols"):
            file.defined_names()

    def test_more_sections_than_any_object_has(self):
        content = bytearray(file_of(True, "<", extended=True))
        (table,) = struct.unpack_from("<Q", content, 40)
        struct.pack_into("<Q", content, table + 32, 1 << 40)
        with self.assertRaisesRegex(ElfError, "has 1099511627776 sections, more than the 2097152 allowed"):
            ElfFile.of_bytes(bytes(content))

    def test_every_cut_is_noticed(self):
        content = file_of(True, "<")
        for length in range(len(content)):
            with self.subTest(length), self.assertRaisesRegex(ElfError, "^(is cut off: |is no ELF file)"):
                read_everything(content[:length])
