"""What is kept of a recorded command and what is dropped, on a command that clang 22 recorded."""

import unittest

from mlgo.corpus.command import CommandError, compile_command, paths_in, portable_command

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
        self.assertEqual(list(portable_command(RECORDED)), PORTABLE)
        self.assertEqual(paths_in(RECORDED)[0], "-fdebug-compilation-dir=/here")
        self.assertEqual(paths_in(portable_command(RECORDED)), [])

    def test_twice_is_once(self):
        once = portable_command(RECORDED)
        self.assertEqual(portable_command(once), once)

    def test_arguments_that_look_like_options_stay(self):
        for kept in (
            ["-mllvm", "-inline-threshold=-5"],
            ["-target-feature", "-x87"],
            ["-main-file-name", "-I"],
            ["-mframe-pointer=all"],
            ["-disable-red-zone"],
            ["-fsanitize=address"],
            ["-fwrapv"],
            ["-ffast-math"],
        ):
            self.assertEqual(list(portable_command(["-cc1", *kept])), kept)

    def test_front_end_matters_go(self):
        for dropped in (
            "-DA=1",
            "-D A",
            "-isysroot /sys",
            "-isystem /a",
            "-std=c++17",
            "-Wall",
            "-dependency-file a.d -MT a.o -sys-header-deps -MP",
            "-S",
            "-emit-llvm-bc",
            "-o a.o",
            "-x c++",
            "-fcolor-diagnostics",
            "-fmodule-map-file=/a",
            "-coverage-notes-file=/a.gcno",
            "-fdiagnostics-format sarif",
            "-fdebug-compilation-dir /here",
            "-analyzer-config a=b",
            "-plugin-arg-name -W",
            "-fpass-plugin=/a.so",
            "-stack-usage-file a.su",
            "-include-pch /a.pch -include/b.h -iquote/c",
            "-remap-file /a;/b",
            "-fsanitize-ignorelist=/a.txt",
            "-fthinlto-index=/a.thinlto.bc",
            "-mllvm -lto-embed-bitcode=post-merge-pre-opt",
            # A policy of the build's clang; LLVM refuses the option when a compile of ours adds its own.
            "-mllvm -enable-ml-inliner=release",
            "-mllvm -regalloc-enable-advisor=release -mllvm -regalloc-enable-priority-advisor=release",
        ):
            self.assertEqual(portable_command(["-cc1", *dropped.split()]), (), dropped)

    def test_missing_argument(self):
        for option in ("-mllvm", "-isystem"):
            with self.assertRaisesRegex(CommandError, f"last option {option}: lacks its argument. extract"):
                portable_command(["-cc1", option])


class CompileCommandTest(unittest.TestCase):
    def test_order(self):
        self.assertEqual(
            compile_command(["-cc1", "-O2", "-o", "old.o", "-x", "c"], "m.bc", "m.o", ["-mllvm", "-a"]),
            ["-cc1", "-O2", "-mllvm", "-a", "-emit-obj", "-o", "m.o", "-x", "ir", "m.bc"],
        )

    def test_bitcode_instead_of_an_object(self):
        self.assertEqual(
            compile_command(["-cc1", "-O2"], "m.bc", "m.o", ["-emit-llvm-bc"]),
            ["-cc1", "-O2", "-emit-llvm-bc", "-o", "m.o", "-x", "ir", "m.bc"],
        )

    def test_thinlto(self):
        expected = ["-cc1", "-O2", "-fthinlto-index=m.thinlto.bc", "-mllvm", "-thinlto-assume-merged"]
        rest = ["-mllvm", "-a", "-emit-obj", "-o", "m.o", "-x", "ir", "m.bc"]
        for recorded in (["-O2"], ["-cc1", "-O2", "-fthinlto-index=/old"]):
            self.assertEqual(
                compile_command(recorded, "m.bc", "m.o", ["-mllvm", "-a"], thinlto_index="m.thinlto.bc"),
                expected + rest,
            )

    def test_thinlto_flag_is_given_once(self):
        command = compile_command(["-mllvm", "-thinlto-assume-merged"], "m.bc", "m.o", (), "i")
        self.assertEqual(command.count("-thinlto-assume-merged"), 1)

    def test_thinlto_without_index(self):
        with self.assertRaisesRegex(CommandError, "needs a ThinLTO index.*--thinlto_build=distributed"):
            compile_command(["-cc1", "-fthinlto-index=a"], "m.bc", "m.o")


if __name__ == "__main__":
    unittest.main()
