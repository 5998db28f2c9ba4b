"""What counts of an object and what does not, on objects of clang. Argument: path of clang."""

import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlgo.compiler.verification.linked import linked_object, without_numbering
from mlgo.corpus import elf
from mlgo.corpus.elf import ElfFile

CLANG = pathlib.Path(sys.argv.pop(1)).absolute()
_EMBEDDED = (".llvmbc", ".llvmcmd")
_SYMBOL = struct.Struct("<IBBHQQ")
_HEADER_BYTES, _SHDR_OFFSET, _SHDR_SIZE = 64, 24, 32

# Strings that are merged, a static function, a static variable, a COMDAT, a weak and an undefined symbol.
_SOURCE = """
extern "C" int g(const char *, int);
static int counter;
static __attribute__((noinline)) int own(int a) { counter += a; return g("one", a) + g("two", counter); }
template <class T> __attribute__((noinline)) T twice(T a) { return a * 2 + g("three", a); }
__attribute__((weak)) int weak(int a) { return own(a) - twice(a); }
int f(int a) { return own(a + 1) + weak(a) + twice(a); }
"""


class LinkedTest(unittest.TestCase):
    objects: dict[str, bytes]

    @classmethod
    def setUpClass(cls):
        cls.objects = {}
        with tempfile.TemporaryDirectory() as directory:
            source, target = pathlib.Path(directory, "m.cc"), pathlib.Path(directory, "m.o")
            source.write_text(_SOURCE, encoding="utf-8")
            for name, options in (
                ("plain", ("-O2",)),
                ("sections", ("-O2", "-ffunction-sections", "-fdata-sections", "-g")),
                ("embedding", ("-O2", "-ffunction-sections", "-fdata-sections", "-Xclang", "-fembed-bitcode=all")),
            ):
                flags = ["--target=x86_64-pc-linux-gnu", *options, "-faddrsig"]
                subprocess.run([CLANG, *flags, "-c", source.name, "-o", target], check=True, cwd=directory)
                cls.objects[name] = target.read_bytes()

    def linked(self, content: bytes):
        return linked_object(content, _EMBEDDED)

    @settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
    @given(st.data())
    def test_names_count_if_and_only_if_they_are_global(self, data):
        content = self.objects["plain"]
        file = ElfFile.of_bytes(content)
        table = next(file.sections_of_kind(elf.SHT_SYMTAB))
        symbols = list(file.symbols(table))
        chosen = data.draw(st.sets(st.integers(1, len(symbols) - 1), min_size=1))
        renamed = _renamed(content, {index: f"other.{index}" for index in chosen})
        is_global = any(symbols[index].binding for index in chosen)
        self.assertEqual(self.linked(renamed) == self.linked(content), not is_global)
        if not is_global:
            after, before = linked_object(renamed, _EMBEDDED), linked_object(content, _EMBEDDED)
            assert after is not None and before is not None
            self.assertEqual(after.names - before.names, {f"other.{index}" for index in chosen})

    def test_every_byte_that_is_linked_counts(self):
        for name in ("plain", "sections"):
            content = self.objects[name]
            file = ElfFile.of_bytes(content)
            before = self.linked(content)
            for section in file.sections[1:]:
                if section.kind in (elf.SHT_NOBITS, elf.SHT_STRTAB):
                    continue
                for place in range(section.offset, section.offset + section.size):
                    index, field = divmod(place - section.offset, _SYMBOL.size)
                    if section.kind == elf.SHT_SYMTAB and (index == 0 or field < 4):
                        continue  # The name, which the test above is about.
                    damaged = bytearray(content)
                    damaged[place] ^= 0x55
                    self.assertFalse(self.linked(bytes(damaged)) == before, f"{name}, byte {place}")

    def test_embedded_sections_and_places_in_the_file_do_not_count(self):
        embedding = self.objects["embedding"]
        without = linked_object(embedding, ())
        assert without is not None
        self.assertNotEqual(self.linked(embedding), without)
        self.assertEqual(len(without.parts), len(self.linked(embedding).parts) + 2)
        self.assertEqual(self.linked(_renamed(embedding, {})), self.linked(embedding))

    def test_what_is_no_relocatable_object(self):
        content = bytearray(self.objects["plain"])
        content[16] = elf.ET_DYN
        for other in (bytes(content), b"", b"BC\xc0\xde", self.objects["plain"][:-1]):
            self.assertIsNone(self.linked(other))

    @settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(st.tuples(st.integers(0, 1 << 16), st.binary(min_size=1, max_size=8)), min_size=1, max_size=4))
    def test_damage_raises_nothing(self, damage):
        content = bytearray(self.objects["sections"])
        for place, written in damage:
            place %= len(content) - len(written)
            content[place : place + len(written)] = written
        linked_object(bytes(content), _EMBEDDED)


class SectionNameTest(unittest.TestCase):
    def test_only_numbers_of_local_symbols_are_left_out(self):
        for name, labels, expected in (
            (".rodata..Lswitch.table.f.20", [], ".rodata..Lswitch.table.f"),
            (".rodata..L__const.f.x.3.4", [], ".rodata..L__const.f.x"),
            (".text.f.20", ["f.20"], ".text.f"),
            (".text.unlikely.f.20.cold", ["f.20.cold"], ".text.unlikely.f.cold"),
            (".text.f.20", [], ".text.f.20"),
            (".init_array.101", ["f"], ".init_array.101"),
            (".rodata.cst16", [".LCPI0_0"], ".rodata.cst16"),
            (".rodata.str1.1", ["1"], ".rodata.str1.1"),
        ):
            with self.subTest(name, labels=labels):
                self.assertEqual(without_numbering(name, labels), expected)


def _renamed(content: bytes, names: dict[int, str]) -> bytes:
    """The object with other names for some symbols, and its table of strings at another place."""
    file = ElfFile.of_bytes(content)
    index = next(at for at, section in enumerate(file.sections) if section.kind == elf.SHT_SYMTAB)
    table = file.sections[index]
    changed, strings = bytearray(content), bytearray(file.content(file.section(table.link)))
    for at, name in names.items():
        struct.pack_into("<I", changed, table.offset + at * _SYMBOL.size, len(strings))
        strings += name.encode() + b"\0"
    header = int.from_bytes(content[0x28:0x30], "little") + table.link * _HEADER_BYTES
    struct.pack_into("<Q", changed, header + _SHDR_OFFSET, len(changed))
    struct.pack_into("<Q", changed, header + _SHDR_SIZE, len(strings))
    return bytes(changed + strings)


if __name__ == "__main__":
    unittest.main()
