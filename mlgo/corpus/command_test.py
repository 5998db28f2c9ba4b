"""What is kept of a recorded command and what is dropped, on a command that clang 22 recorded."""

import unittest

from mlgo.corpus.command import MOST_BYTES, MOST_WORD_BYTES, CommandError, CompileCommand, check_length, paths_in

# As -Xclang -fembed-bitcode=all of clang 22.1.8 recorded it, directories shortened.
RECORDED = """-cc1 -triple x86_64-pc-linux-gnu -O2 -emit-obj -disable-free -clear-ast-before-backend
-disable-llvm-verifier -discard-value-names -main-file-name t.c -mrelocation-model pic -pic-level 2 -pic-is-pie
-mframe-pointer=none -fmath-errno -ffp-contract=on -fno-rounding-math -mconstructor-aliases -funwind-tables=2
-target-cpu x86-64 -tune-cpu generic -debugger-tuning=gdb -fdebug-compilation-dir=/here -fcoverage-compilation-dir=/here
-resource-dir /llvm/lib/clang/22 -I /abs/inc -D FOO=1 -internal-isystem /llvm/lib/clang/22/include
-internal-externc-isystem /usr/include -ferror-limit 19 -fgnuc-version=4.2.1 -fskip-odr-check-in-gmf -vectorize-loops
-vectorize-slp -fembed-bitcode=all -faddrsig -fdwarf2-cfi-asm""".split()

PORTABLE = """-triple x86_64-pc-linux-gnu -O2 -disable-free -clear-ast-before-backend -disable-llvm-verifier
-discard-value-names -main-file-name t.c -mrelocation-model pic -pic-level 2 -pic-is-pie -mframe-pointer=none
-fmath-errno -ffp-contract=on -fno-rounding-math -mconstructor-aliases -funwind-tables=2 -target-cpu x86-64 -tune-cpu
generic -debugger-tuning=gdb -fgnuc-version=4.2.1 -fskip-odr-check-in-gmf -vectorize-loops -vectorize-slp -faddrsig
-fdwarf2-cfi-asm""".split()


class PortableCommandTest(unittest.TestCase):
    def test_recorded_command(self):
        self.assertEqual(list(CompileCommand(RECORDED).portable), PORTABLE)
        self.assertEqual(paths_in(RECORDED)[0], "-fdebug-compilation-dir=/here")
        self.assertEqual(paths_in(CompileCommand(RECORDED).portable), [])

    def test_twice_is_once(self):
        once = CompileCommand(RECORDED).portable
        self.assertEqual(CompileCommand(once).portable, once)

    def test_arguments_that_look_like_options_stay(self):
        for words in """
            -mllvm -inline-threshold=-5 | -target-feature -x87 | -main-file-name -I | -mframe-pointer=all
            | -disable-red-zone | -fsanitize=address | -fwrapv | -ffast-math
        """.split("|"):
            kept = words.split()
            self.assertEqual(list(CompileCommand(["-cc1", *kept]).portable), kept)

    def test_front_end_matters_go(self):
        for dropped in """
            -DA=1 | -D A | -isysroot /sys | -isystem /a | -std=c++17 | -Wall | -S | -emit-llvm-bc | -o a.o | -x c++
            | -dependency-file a.d -MT a.o -sys-header-deps -MP | -fcolor-diagnostics | -fmodule-map-file=/a
            | -coverage-notes-file=/a.gcno | -fdiagnostics-format sarif | -fdebug-compilation-dir /here
            | -analyzer-config a=b | -plugin-arg-name -W | -fpass-plugin=/a.so | -stack-usage-file a.su
            | -include-pch /a.pch -include/b.h -iquote/c | -remap-file /a;/b | -fsanitize-ignorelist=/a.txt
            | -fthinlto-index=/a.thinlto.bc | -mllvm -lto-embed-bitcode=post-merge-pre-opt
            | -mllvm -enable-ml-inliner=release
            | -mllvm -regalloc-enable-advisor=release -mllvm -regalloc-enable-priority-advisor=release
        """.split("|"):
            # The last are policies of the build's clang; LLVM refuses an option that a compile of ours gives again.
            self.assertEqual(CompileCommand(["-cc1", *dropped.split()]).portable, (), dropped)

    def test_missing_argument(self):
        for option in ("-mllvm", "-isystem"):
            with self.assertRaisesRegex(CommandError, f"last option {option}: lacks its argument. extract"):
                print(CompileCommand(["-cc1", option]).portable)


class CompileCommandTest(unittest.TestCase):
    def test_order(self):
        command = CompileCommand(["-cc1", "-O2", "-o", "old.o", "-x", "c"])
        expected = "-cc1 -O2 -mllvm -a -emit-obj -o m.o -x ir m.bc".split()
        self.assertEqual(command.arguments("m.bc", "m.o", ["-mllvm", "-a"]), expected)

    def test_bitcode_instead_of_an_object(self):
        found = CompileCommand(["-cc1", "-O2"]).arguments("m.bc", "m.o", ["-emit-llvm-bc"])
        self.assertEqual(found, "-cc1 -O2 -emit-llvm-bc -o m.o -x ir m.bc".split())

    def test_thinlto(self):
        expected = ["-cc1", "-O2", "-fthinlto-index=m.thinlto.bc", "-mllvm", "-thinlto-assume-merged"]
        rest = ["-mllvm", "-a", "-emit-obj", "-o", "m.o", "-x", "ir", "m.bc"]
        for recorded in (["-O2"], ["-cc1", "-O2", "-fthinlto-index=/old"]):
            found = CompileCommand(recorded).arguments("m.bc", "m.o", ["-mllvm", "-a"], thinlto_index="m.thinlto.bc")
            self.assertEqual(found, expected + rest)

    def test_thinlto_flag_is_given_once(self):
        command = CompileCommand(["-mllvm", "-thinlto-assume-merged"]).arguments("m.bc", "m.o", (), "i")
        self.assertEqual(command.count("-thinlto-assume-merged"), 1)

    def test_thinlto_without_index(self):
        with self.assertRaisesRegex(CommandError, "needs a ThinLTO index.*--thinlto_build=distributed"):
            CompileCommand(["-cc1", "-fthinlto-index=a"]).arguments("m.bc", "m.o")


class CommandLengthTest(unittest.TestCase):
    def test_the_longest_words_and_commands_are_accepted(self):
        check_length([], "it")
        check_length(["a" * MOST_WORD_BYTES], "it")
        check_length(["-O2"] * (MOST_BYTES // 12), "it")

    def test_one_more_is_refused(self):
        for words, message in (
            (["a" * (MOST_WORD_BYTES + 1)], "it: has a word of 131,072 bytes, more than the 131,071 allowed. Make it"),
            (["é" * 65_536], "has a word of 131,072 bytes"),
            (["\udcff" * (MOST_WORD_BYTES + 1)], "has a word of 131,072 bytes"),
            (["-O2"] * (MOST_BYTES // 12 + 1), "has 87,382 words, 1,048,584 bytes in memory, more than the 1,048,576"),
        ):
            with self.subTest(words[0][:3]), self.assertRaisesRegex(CommandError, message):
                check_length(words, "it")

    def test_only_what_the_compiler_is_given_counts(self):
        # Macros are the front end's; bitcode needs none.
        CompileCommand(["-cc1", *["-D", "A" * 1000] * 2000]).arguments("in.bc", "out.o")
        with self.assertRaisesRegex(CommandError, "a module's command: has 200,007 words"):
            CompileCommand(["-cc1", *["-O2"] * 200_000]).arguments("in.bc", "out.o")
