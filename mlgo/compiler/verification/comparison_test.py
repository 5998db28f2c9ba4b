"""Real objects of clang that are the same, or differ for every reason. Arguments: paths of clang and llvm-objcopy."""

import pathlib
import subprocess
import sys

from mlgo.compiler.verification.comparison import Comparer, Difference, Reason, explain, without_file_offsets
from mlgo.corpus.elf import ElfFile
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

OBJCOPY = pathlib.Path(sys.argv.pop(2)).absolute()
CLANG = pathlib.Path(sys.argv.pop(1)).absolute()

SOURCE = "extern int g(int); static int kept(void) { return 3; } int f(int a) { return g(a) + g(a + 1) + kept(); }\n"
_TARGET = ("--target=x86_64-pc-linux-gnu",)


class ComparisonTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.comparer = Comparer(OBJCOPY)

    def compiled(self, *options: str, source: str = SOURCE, language: str = "c") -> bytes:
        target, given = self.folder / "m.o", self.file("m.c", source)
        flags = [*_TARGET, "-O2", *options, "-x", language]
        subprocess.run([CLANG, *flags, "-c", given, "-o", target], check=True, cwd=self.folder)
        return target.read_bytes()

    def difference(self, original: bytes, compiled: bytes) -> Difference:
        found = self.comparer.difference(original, compiled)
        assert found is not None
        return found

    def test_same_bytes(self):
        self.assertIsNone(self.comparer.difference(self.compiled(), self.compiled()))

    def test_embedded_sections_do_not_count(self):
        for options in ([], ["-g"], ["-ffunction-sections", "-fdata-sections"]):
            embedding = self.compiled(*options, "-Xclang", "-fembed-bitcode=all")
            plain = self.compiled(*options)
            self.assertNotEqual(embedding, plain)
            self.assertIsNone(self.comparer.difference(embedding, plain))
            self.assertIsNone(self.comparer.difference(embedding, embedding + b""))

    def test_alignment_behind_the_embedded_sections_does_not_count(self):
        # .note.GNU-stack and .bss, which have no bytes, are moved by what was in front of them.
        for bytes_of_code in range(1, 9):
            source = f'__asm__(".text; .zero {bytes_of_code}"); int zeros[{bytes_of_code}];\n' + SOURCE
            options = ["-ffunction-sections", "-fdata-sections", "-fno-unique-section-names"]
            embedding = self.compiled(*options, "-Xclang", "-fembed-bitcode=all", source=source)
            self.assertIsNone(self.comparer.difference(embedding, self.compiled(*options, source=source)))

    def test_places_are_all_that_is_forgotten(self):
        content = self.compiled()
        offset = int.from_bytes(content[0x28:0x30], "little")
        moved = content[:0x28] + (offset + 8).to_bytes(8, "little") + content[0x30:offset] + bytes(8) + content[offset:]
        self.assertEqual(without_file_offsets(moved), without_file_offsets(content))
        code = ElfFile.of_bytes(content).sections[2].offset
        other = content[:code] + bytes([content[code] ^ 1]) + content[code + 1 :]
        self.assertNotEqual(without_file_offsets(other), without_file_offsets(content))
        self.assertIsNone(without_file_offsets(b"no object"))
        self.assertIsNone(without_file_offsets(content[:70]))

    def test_other_code(self):
        found = self.difference(self.compiled("-Xclang", "-fembed-bitcode=all"), self.compiled("-O0"))
        self.assertEqual(found.reason, Reason.SECTIONS_DIFFER)
        self.assertIn(".text", found.detail)
        self.assertNotIn(".llvm", found.detail)

    def test_other_compiler(self):
        found = self.difference(self.compiled("-Xclang", "-fembed-bitcode=all"), self.compiled("-Qn"))
        self.assertEqual(found.reason, Reason.OTHER_COMPILER)
        self.assertRegex(found.detail, "made by .*clang version .*, this clang is unknown")

    def test_other_formats_only_differ(self):
        said = explain(b"MZ12345", b"MZ1x345").detail
        self.assertEqual(said, "7 bytes in the original, 7 compiled, the first difference at byte 3")

    def test_damaged_objects_only_differ(self):
        content = self.compiled("-g")
        for place in range(0, len(content), 7):
            damaged = bytearray(content)
            damaged[place] ^= 0xFF
            explain(content, bytes(damaged))
            self.assertIsNotNone(explain(content, content[:place]))

    def test_tool_that_is_not_there(self):
        with self.assertRaisesRegex(RunError, "--llvm_objcopy_path=.*gone: cannot be started"):
            Comparer(self.folder / "gone").difference(b"a", b"b")
