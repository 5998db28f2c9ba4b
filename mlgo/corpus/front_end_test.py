"""What is taken from an ordinary compile's command, what is recorded, and whom the bitcode serves."""

import pathlib
import subprocess
import sys
import unittest

from hypothesis import given
from hypothesis import strategies as st

from mlgo.corpus import corpus, front_end
from mlgo.corpus.command import CompileCommand
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

CLANG = pathlib.Path(sys.argv.pop(1)).absolute()
LLVM_MAJOR = int(sys.argv.pop(1))

VERSION = "Debian clang version 22.1.8 (1~deb12u1)\nTarget: x86_64-pc-linux-gnu\n (in-process)\n"
END = ["-emit-obj", "-o", "-", "-x"]
CC1 = ' "/a b/clang" "-cc1" "-O2" "-emit-obj" "-D" "A=\\"x\\$\\"" "-o" "-" "-x" "c" "m.c"\n'


class DriverArgumentsTest(unittest.TestCase):
    def test_outputs_and_policies_are_dropped(self):
        flags = "-O2 -MD -MF a.d -mllvm -regalloc-enable-advisor=release -mllvm -x -c a.c -o a.o -fembed-bitcode=all"
        given_words = flags.split()
        self.assertEqual(front_end.driver_arguments(given_words, ""), "-O2 -mllvm -x a.c -w -c -o -".split())

    def test_the_level_stands_last(self):
        self.assertEqual(front_end.driver_arguments(["-O2", "-c", "a.c"], "Oz"), "-O2 a.c -Oz -w -c -o -".split())


class FrontEndCommandTest(unittest.TestCase):
    def test_words_are_unquoted(self):
        expected = ["-cc1", "-O2", "-emit-obj", "-D", 'A="x$"', "-o", "-", "-x", "c", "m.c"]
        self.assertEqual(front_end.front_end_command(VERSION + CC1, 22), expected)

    @given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",))), min_size=1))
    def test_any_word_survives(self, words):
        # As llvm::sys::printArg writes them (llvm/lib/Support/Program.cpp).
        quoted = "".join(
            ' "' + "".join("\\" + c if c in '"\\$' else c for c in word) + '"' for word in ["-cc1", *words, *END]
        )
        self.assertEqual(front_end.front_end_command(VERSION + ' "clang"' + quoted + "\n", 22), ["-cc1", *words, *END])

    def test_another_compiler(self):
        for shown, found in (
            (VERSION.replace("22.1.8", "19.1.7") + CC1, "is clang version 19.1.7; .* clang 22"),
            ("gcc version 12.2.0 (Debian)\n", "is something that shows .*gcc version 12.2.0"),
        ):
            with self.assertRaisesRegex(RunError, found + ".*--extra_toolchains=@mlgo//toolchains/cc:clang_toolchain"):
                front_end.front_end_command(shown, 22)

    def test_no_single_front_end(self):
        for jobs in ("", CC1 + CC1, CC1.replace("-cc1", "-cc1as")):
            with self.assertRaisesRegex(RunError, r"has \d front ends, not 1"):
                front_end.front_end_command(VERSION + jobs, 22)

    def test_a_front_end_that_writes_no_object(self):
        for jobs in (CC1.replace('"-o" "-"', ""), CC1.replace("-emit-obj", "-E"), CC1.replace("-emit-obj", "-analyze")):
            with self.subTest(jobs), self.assertRaisesRegex(RunError, "writes no object: -cc1 .*remove flags"):
                front_end.front_end_command(VERSION + jobs, 22)


class CommandsTest(unittest.TestCase):
    CC1 = ("-cc1", "-O2", "-emit-obj", "-main-file-name", "m.c", "-o", "-", "-x", "c", "m.c")

    def test_recorded_as_clang_records(self):
        self.assertEqual(front_end.recorded_command(self.CC1), ("-cc1", "-O2", "-emit-obj", "-main-file-name", "m.c"))

    def test_only_the_front_end_runs(self):
        expected = (
            "-cc1 -emit-llvm-bc -emit-llvm-uselists -disable-llvm-passes -O2 -main-file-name m.c -o m.bc -x c m.c"
        )
        self.assertEqual(front_end.bitcode_command(self.CC1, "m.bc"), expected.split())


class SameObjectTest(FolderCase):
    """The module compiles to the bytes of the ordinary compile, which embedded bitcode does not always."""

    SOURCE = (
        "__attribute__((used)) static int kept(int a) { return a * 3; }\n"
        "static int called(int a) { return a + 1; }\n"
        "int f(int a) { return called(a) + called(a * 2); }\n"
    )

    def setUp(self):
        super().setUp()
        self.file("m.c", self.SOURCE)

    def clang(self, *arguments):
        subprocess.run([CLANG, *arguments], cwd=self.folder, env={}, check=True)

    def compiled(self, bitcode: str, recorded: pathlib.Path) -> bytes:
        self.clang(*CompileCommand(corpus.split_command(recorded.read_bytes())).arguments(bitcode, "again.o"))
        return (self.folder / "again.o").read_bytes()

    def test_at_every_level(self):
        source, bitcode, recorded = self.folder / "m.c", self.folder / "m.bc", self.folder / "m.cmd"
        for level in ("O1", "O2", "Oz"):
            self.clang(f"-{level}", "-c", "m.c", "-o", "m.o")
            words = ["-O3", "-MD", "-MF", "m.d", "-c", str(source), "-o", "m.o"]
            front_end.run(str(CLANG), LLVM_MAJOR, words, level, bitcode, recorded)
            original = (self.folder / "m.o").read_bytes()
            self.assertIn(b"kept", original)
            self.assertEqual(self.compiled("m.bc", recorded), original, level)
        self.assertFalse((self.folder / "m.d").exists())

    def test_a_source_that_does_not_compile(self):
        self.file("m.c", "int f( {")
        with self.assertRaisesRegex(RunError, "ended with status 1. mend the source"):
            source, bitcode, recorded = self.folder / "m.c", self.folder / "m.bc", self.folder / "m.cmd"
            front_end.run(str(CLANG), LLVM_MAJOR, ["-c", str(source)], "", bitcode, recorded)
