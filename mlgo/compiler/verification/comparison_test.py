"""Real objects of clang that are the same, or differ for every reason. Arguments: paths of clang and llvm-objcopy."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from mlgo.compiler.verification.comparison import Comparer, Difference, Reason, explain, without_file_offsets
from mlgo.corpus.elf import ElfFile
from mlgo.run.exit_codes import RunError

OBJCOPY = pathlib.Path(sys.argv.pop(2)).absolute()
CLANG = pathlib.Path(sys.argv.pop(1)).absolute()

SOURCE = "extern int g(int); static int kept(void) { return 3; } int f(int a) { return g(a) + g(a + 1) + kept(); }\n"
_TARGET = ("--target=x86_64-pc-linux-gnu",)


class ComparisonTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.comparer = Comparer(OBJCOPY)

    def compiled(self, *options: str, source: str = SOURCE, language: str = "c") -> bytes:
        target = self.folder / "m.o"
        given = self.folder / "m.c"
        given.write_text(source, encoding="utf-8")
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

    def test_only_local_names_differ(self):
        # clang numbers the second table of `f` by how many names it has had to change before, strings included.
        cases = "".join(f"case {value}: x = {value * value + 7}; break;" for value in range(6))
        source = (
            'void g(const char *, const char *); void h(void) { g("a", "b"); }\n'
            f"int f(int a, int b) {{ int x, y; switch (a) {{ {cases} default: x = 0; }} y = x;"
            f" switch (b) {{ {cases.replace('7', '9')} default: x = 1; }} return x * y; }}\n"
        )
        for options in (
            ["-fdata-sections"],
            ["-fdata-sections", "-fno-unique-section-names"],
            ["-m32", "-fdata-sections"],
        ):
            with self.subTest(options):
                original = self.compiled(*options, "-Xclang", "-fembed-bitcode=all", source=source)
                self.compiled(*options, "-emit-llvm", "-Xclang", "-disable-llvm-passes", source=source)
                (self.folder / "m.o").replace(self.folder / "m.bc")
                again = [*_TARGET, *options, "-O2", "-c", "m.bc", "-o", "again.o"]
                subprocess.run([CLANG, *again], check=True, cwd=self.folder)
                compiled = (self.folder / "again.o").read_bytes()
                found = self.comparer.difference(original, compiled)
                if "-fno-unique-section-names" in options:
                    self.assertIsNone(found)
                    continue
                assert found is not None
                self.assertEqual(found.reason, Reason.LOCAL_NAMES, found)
                self.assertRegex(found.detail, r"only local names differ: .*switch.table.f\.\d -> .*switch.table.f\.1")
                self.assertEqual(
                    self.difference(original, self.compiled(*options, source=source.replace("x * y", "x + y"))).reason,
                    Reason.SECTIONS_DIFFER,
                )

    def test_split_dwarf(self):
        split = self.compiled("-g", "-gsplit-dwarf")
        module = self.compiled("-g", "-gsplit-dwarf", "-emit-llvm", "-Xclang", "-disable-llvm-passes")
        (self.folder / "m.bc").write_bytes(module)
        target = self.folder / "again.o"
        options = [
            "-cc1",
            "-triple",
            "x86_64-pc-linux-gnu",
            "-O2",
            "-mrelocation-model",
            "pic",
            "-faddrsig",
            "-emit-obj",
        ]
        subprocess.run([CLANG, *options, "-o", target, "-x", "ir", self.folder / "m.bc"], check=True)
        found = self.difference(split, target.read_bytes())
        self.assertEqual(found.reason, Reason.SPLIT_DWARF, found)

    def test_used_is_forgotten(self):
        used = SOURCE.replace("static int kept", "__attribute__((used)) static int kept")
        found = self.difference(self.compiled(source=used), self.compiled())
        self.assertEqual(found, Difference(Reason.USED_FORGOTTEN, found.detail))
        self.assertIn("kept", found.detail)
        external = SOURCE.replace("int f", "__attribute__((used)) int f")
        found = self.difference(self.compiled(source=external), self.compiled())
        self.assertEqual(found.reason, Reason.USED_FORGOTTEN, found)
        self.assertIn("code and data are the same, .llvm_addrsig is not", found.detail)

    def test_coff(self):
        target = "--target=x86_64-pc-windows-msvc"
        embedding = self.compiled(target, "-Xclang", "-fembed-bitcode=all")
        now = self.compiled(target)
        then = now[:4] + b"past" + now[8:]
        for other in (now, then):
            self.assertIsNone(self.comparer.difference(embedding, other))
        self.assertEqual(self.difference(embedding, self.compiled(target, "-O0")).reason, Reason.SECTIONS_DIFFER)

    def test_mach_o(self):
        target = "--target=x86_64-apple-macos13"
        self.comparer = Comparer(OBJCOPY, ("__LLVM,__bitcode", "__LLVM,__cmdline"))
        self.assertIsNone(self.comparer.difference(self.compiled(target), self.compiled(target)))
        embedding = self.compiled(target, "-Xclang", "-fembed-bitcode=all")
        self.assertEqual(self.difference(embedding, self.compiled(target)).reason, Reason.NOT_COMPARABLE)
        self.assertEqual(
            self.difference(self.compiled(target), self.compiled(target, "-O0")).reason, Reason.SECTIONS_DIFFER
        )

    def test_other_formats_only_differ(self):
        self.assertEqual(
            explain(b"MZ12345", b"MZ1x345").detail,
            "7 bytes in the original, 7 compiled, the first difference at byte 3",
        )

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


if __name__ == "__main__":
    unittest.main()
