"""Sections equal those that llvm-objcopy dumps, in every kind of ELF; broken files end in a reason."""

import contextlib
import os
import pathlib

from hypothesis import given, settings, strategies

from mlgo.corpus import bitcode
from mlgo.corpus.extraction import archive, object_file
from mlgo.corpus.extraction.archive import Span
from mlgo.corpus.extraction.object_file import DEFAULT_NAMES, Embedded, SectionNames
from mlgo.corpus.extraction.outcome import Kind, LeftOut
from mlgo.corpus.extraction.testing import toolbox

SOURCE = "int f(int x) { return x * 3; }\n"
FORMATS = {
    "ELF 64 little": "x86_64-linux-gnu",
    "ELF 32 little": "i386-linux-gnu",
    "ELF 64 big": "powerpc64-linux-gnu",
    "ELF 32 big": "powerpc-linux-gnu",
}


@contextlib.contextmanager
def span_of(content: bytes):
    descriptor = os.memfd_create("object")
    try:
        os.write(descriptor, content)
        yield Span(descriptor, 0, len(content))
    finally:
        os.close(descriptor)


def embedded_in(content: bytes, names: SectionNames = DEFAULT_NAMES) -> Embedded:
    with span_of(content) as span:
        return object_file.embedded(span, names)


class ObjectFileTest(toolbox.ToolboxTest):
    def dumped(self, path: pathlib.Path) -> Embedded:
        sections = ("--dump-section=.llvmbc=bc", "--dump-section=.llvmcmd=cmd")
        self.run_tool("llvm-objcopy", *sections, path, os.devnull)
        return Embedded((self.folder / "bc").read_bytes(), (self.folder / "cmd").read_bytes())

    def refused(self, content: bytes, kind: Kind, reason: str):
        with self.assertRaises(LeftOut) as caught:
            embedded_in(content)
        self.assertEqual(caught.exception.kind, kind)
        self.assertIn(reason, caught.exception.reason)


class FormatsTest(ObjectFileTest):
    def test_as_llvm_objcopy_dumps_them(self):
        for name, target in FORMATS.items():
            with self.subTest(name):
                path = self.compiled("f.o", SOURCE, f"--target={target}")
                found = embedded_in(path.read_bytes())
                self.assertEqual(found, self.dumped(path))
                assert found.bitcode is not None and found.command is not None
                self.assertEqual(bitcode.module_count(found.bitcode), 1)
                self.assertTrue(found.command.startswith(b"-cc1\0-triple\0"))
                self.assertEqual(embedded_in(path.read_bytes(), SectionNames(".no", ".no")), Embedded(None, None))

    def assembled(self, source: str, target: str) -> bytes:
        self.file("assembly.s", source)
        self.run_tool("clang", f"--target={target}", "-c", "assembly.s", "-o", "assembly.o")
        return (self.folder / "assembly.o").read_bytes()

    def test_more_sections_than_16_bits_count(self):
        many = '.macro one\n.section .t\\@,"a"\n.endm\n.rept 65500\none\n.endr\n'
        content = self.assembled(many + '.section .llvmbc\n.ascii "BC"\n', "x86_64-linux-gnu")
        self.assertEqual(embedded_in(content), Embedded(b"BC", None))

    def test_other_formats_are_read_by_the_user_s_objcopy(self):
        names = SectionNames("__LLVM,__bitcode", "__LLVM,__cmdline")
        for target, sections in (("x86_64-pc-windows-msvc", DEFAULT_NAMES), ("x86_64-apple-darwin", names)):
            path = self.compiled("f.o", SOURCE, f"--target={target}")
            self.refused(path.read_bytes(), Kind.UNREADABLE_OBJECT, "--llvm_objcopy_path reads other formats")
            read = object_file.section_reader(sections, self.tool("llvm-objcopy"))
            with span_of(path.read_bytes()) as span:
                for place in (str(path), None):
                    found = read(span, place)
                    assert found.bitcode is not None and found.command is not None
                    self.assertEqual(bitcode.module_count(found.bitcode), 1, target)
                    self.assertTrue(found.command.startswith(b"-cc1\0-triple\0"), target)

    def test_a_merged_object_holds_several_modules(self):
        self.compiled("f.o", SOURCE)
        self.compiled("g.o", "int g;")
        self.run_tool("ld.lld", "-r", "f.o", "g.o", "-o", "fg.o")
        found = embedded_in((self.folder / "fg.o").read_bytes()).bitcode
        assert found is not None
        self.assertEqual(bitcode.module_count(found), 2)

    def test_a_linked_program_is_no_object(self):
        self.compiled("f.o", SOURCE)
        for flags in (["-shared"], ["-e", "f"]):
            self.run_tool("ld.lld", *flags, "f.o", "-o", "linked")
            self.refused((self.folder / "linked").read_bytes(), Kind.NO_OBJECT, "is a linked program or library")

    def test_what_is_no_object(self):
        self.refused(b"", Kind.EMPTY_FILE, "is empty")
        self.refused(b"\0asm\1\0\0\0", Kind.WEB_ASSEMBLY, "is a WebAssembly object")
        self.refused(b"int x;", Kind.UNREADABLE_OBJECT, "is no ELF object")
        self.refused(b"BC\xc0\xde", Kind.BITCODE_FILE, "is bitcode itself, as -emit-llvm")
        self.refused(b"!<arch>\n", Kind.UNREADABLE_OBJECT, "is an archive")
        self.refused(b"\x7fELF\x02\x01" + bytes(10), Kind.UNREADABLE_OBJECT, "is cut off")
        self.refused(b"\x7fELF\x07\x01" + bytes(90), Kind.UNREADABLE_OBJECT, "class 7")
        for path, kind in ((self.folder / "absent", Kind.MISSING_OBJECT), (self.folder, Kind.UNREADABLE_OBJECT)):
            with self.assertRaises(LeftOut) as caught, object_file.opened(str(path)) as span:
                object_file.embedded(span)
            self.assertEqual(caught.exception.kind, kind)

    def test_damage(self):
        for name in ("ELF 64 little", "ELF 32 big"):
            with self.subTest(name):
                check_damage(self.compiled("f.o", SOURCE, f"--target={FORMATS[name]}").read_bytes())


def check_damage(content: bytes) -> None:
    """Damaged copies of the object file `content` are read or left out."""
    # Tables stand at the front or at the end, so damage there is what matters.
    places = strategies.one_of(
        strategies.integers(0, 300),
        strategies.integers(len(content) - 1500, len(content) - 1),
        strategies.integers(0, len(content) - 1),
    )

    @settings(deadline=None, max_examples=40, database=None)
    @given(
        strategies.lists(strategies.tuples(places, strategies.binary(min_size=1, max_size=8)), max_size=5),
        strategies.integers(0, len(content)),
    )
    def damaged(changes, end):
        broken = bytearray(content)
        for place, value in changes:
            broken[place : place + len(value)] = value
        for candidate in (bytes(broken), bytes(broken[:end])):
            with contextlib.suppress(LeftOut):
                embedded_in(candidate)

    damaged()


class ArchiveTest(ObjectFileTest):
    def members(self, content: bytes) -> list[tuple[str, bytes]]:
        with span_of(content) as span:
            return [
                (member.name, span.part(member.start, member.size).read(0, member.size))
                for member in archive.members(span)
            ]

    def test_kinds(self):
        long_name = "a name longer than sixteen bytes.o"
        for name, content in (("a.o", b"one"), (long_name, b"three"), ("b.o", b"")):
            self.file(name, content)
        for kind in ("gnu", "bsd", "darwin", "coff"):
            self.run_tool("llvm-ar", f"--format={kind}", "rcS", f"{kind}.a", "a.o", long_name, "b.o")
            found = self.members((self.folder / f"{kind}.a").read_bytes())
            self.assertEqual([name for name, _ in found], ["a.o", long_name, "b.o"], kind)
            self.assertEqual([content.rstrip(b"\n\0") for _, content in found], [b"one", b"three", b""], kind)
        self.run_tool("llvm-ar", "rcsT", "thin.a", "a.o", long_name)
        self.assertEqual(self.members((self.folder / "thin.a").read_bytes()), [("a.o", b""), (long_name, b"")])

    def test_names_that_overlap_fill_no_memory(self):
        table = b"//".ljust(48) + b"5000      `\n" + 5000 * b"a"
        with self.assertRaisesRegex(LeftOut, "member at 5068 has a name of 5000 bytes"):
            self.members(archive.MAGIC + table + b"/0".ljust(48) + b"0         `\n")

    def test_a_symbol_table_is_no_member(self):
        self.compiled("f.o", SOURCE)
        for kind in ("gnu", "bsd"):
            self.run_tool("llvm-ar", f"--format={kind}", "rcs", f"{kind}.a", "f.o")
            self.assertEqual([name for name, _ in self.members((self.folder / f"{kind}.a").read_bytes())], ["f.o"])

    @settings(deadline=None, max_examples=60)
    @given(
        strategies.sampled_from([archive.MAGIC, archive.THIN_MAGIC]),
        strategies.lists(
            strategies.tuples(
                strategies.sampled_from([b"a.o/", b"//", b"/", b"/0", b"/99", b"#1/4", b"#1/999", b"", b"__.SYMDEF"]),
                strategies.sampled_from([b"0", b"4", b"5", b"999999", b"", b"-1"]),
                strategies.binary(max_size=8),
            ),
            max_size=4,
        ),
    )
    def test_damage(self, magic, parts):
        content = magic + b"".join(
            name.ljust(16) + b"0".ljust(32) + size.ljust(10) + b"`\n" + body for name, size, body in parts
        )
        with contextlib.suppress(LeftOut):
            self.members(content)


class BitcodeTest(ObjectFileTest):
    @settings(deadline=None, max_examples=40)
    @given(
        strategies.lists(
            strategies.sampled_from(
                [bitcode.MAGIC, bitcode.WRAPPER_MAGIC, bytes(4), b"\x35\x14\0\0", b"\1\0\0\0", b"\x21\x0c\0\0"]
            )
        )
    )
    def test_any_words(self, words):
        self.assertGreaterEqual(bitcode.module_count(b"".join(words)), 0)
