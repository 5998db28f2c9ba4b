"""Overrides written for clang's driver: which are, which of their options it is given, and its cc1 commands.

Argument: clang.
"""

import pathlib
import subprocess
import sys
import unittest

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlgo.compiler.driver_command import cc1_command, driver_options, is_for_driver, with_cc1_override
from mlgo.corpus.command import CompileCommand
from mlgo.corpus.corpus import Corpus, CorpusError
from mlgo.corpus.options.parsing import CommandError
from mlgo.corpus.testing.made_up_corpus import made_up_corpus
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

CLANG = pathlib.Path(sys.argv.pop(1)).absolute()

_DOCUMENT = (
    "-fPIC -mllvm -instcombine-lower-dbg-declare=0 -mllvm -import-instr-limit=30 -no-canonical-prefixes -O2 -nostdlib++"
    " --sysroot=/absent -c"
).split()

#: Refused by name.
_HOSTILE = (
    *(
        "-fplugin=/tmp/evil.so -fplugin=evil.so -fpass-plugin=evil.so -fplugin-arg-a-b=c -B/tmp -specs=x"
        " --config=x.cfg --gcc-toolchain=/tmp -gcc-toolchain=x -gen-cdb-fragment-path -MJx.json -MD -save-temps"
        " -wrapper -fuse-ld=evil -fno-integrated-as -fno-integrated-cc1 -fcrash-diagnostics-dir=x"
        " -fsave-optimization-record -ftime-trace=x -fproc-stat-report=x -fmodules-cache-path=x -fprofile-generate"
        " -fopenmp-targets=nvptx64 -march=native -mtune=native --offload-arch=native @words -Wp,-MD,x -Wa,-x"
        " -Wl,-plugin,x -fprofile-use=/etc/passwd -fsanitize-ignorelist=/etc/passwd -mllvm=-load=x -x"
        " --driver-mode=cl -### -ccc-gcc-name a.c /tmp/a.c -"
    ).split(),
    "",
    "-fPIC\n-B/tmp",
)


class DriverOptionsTest(unittest.TestCase):
    def test_which_overrides_are_for_the_driver(self):
        for words in (_DOCUMENT, ["-O2", "-c"], ["-fPIC", "-O2"], ["-nostdlib++"]):
            self.assertTrue(is_for_driver(words), words)
        for words in ([], ["-cc1", "-fPIC"], ["-O2"], ["-O2", "-mllvm", "-stats"], ["-O2", "-mllvm"]):
            self.assertFalse(is_for_driver(words), words)

    def test_the_document_s_example(self):
        for words, for_driver, for_cc1 in (
            (_DOCUMENT, "-fPIC -O2 -c", "-mllvm -instcombine-lower-dbg-declare=0 -mllvm -import-instr-limit=30"),
            ("-march=armv7-a -target arm -Xclang -fno-x".split(), "-march=armv7-a --target=arm", "-fno-x"),
        ):
            self.assertEqual(driver_options(words), (for_driver.split(), for_cc1.split()))

    def test_what_bitcode_does_not_need_is_left_out(self):
        words = "-Wall -Wno-error=x -std=c++20 -I/x -isystem /y --sysroot /z -DA=b -pthread -O2 -isysroot /q".split()
        self.assertEqual(driver_options(words), (["-O2"], []))

    def test_hostile_options_are_refused_by_name(self):
        for word in _HOSTILE:
            with self.subTest(word), self.assertRaisesRegex(CommandError, "has the driver's option .*more than change"):
                driver_options(["-O2", word, "-c"])

    def test_an_option_without_its_argument_is_refused(self):
        for word in ("-mllvm", "-Xclang", "-target", "--sysroot"):
            with self.assertRaisesRegex(CommandError, f"ends after {word}"):
                driver_options(["-c", word])

    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(st.sampled_from([*_DOCUMENT, "-target", *_HOSTILE]) | st.text(max_size=12), max_size=6))
    def test_the_driver_gets_single_words_without_a_path(self, words):
        try:
            for_driver, _ = driver_options(words)
        except CommandError:
            return
        for word in for_driver:
            self.assertRegex(word, r"\A--?[\w.,:+=-]+\Z")
            self.assertNotIn(word, _HOSTILE)


class DriverCommandTest(FolderCase):
    def corpus(self, override) -> Corpus:
        modules = {"a": (b"bitcode", None if override else ("-cc1",))}
        return made_up_corpus(self.folder / "corpus", modules, command_override=override)

    def test_the_document_s_override_compiles_as_the_driver_compiles_it(self):
        loop = "int g; int f(int *p) { int s = 0; for (int i = 0; i < 64; ++i) s += p[i]; return s + g; }"
        source, bitcode = self.file("a.c", loop), self.folder / "a.bc"
        unoptimised = ["-O2", "-Xclang", "-disable-llvm-passes", "-emit-llvm"]
        subprocess.run([CLANG, *unoptimised, "-c", source, "-o", bitcode], check=True)
        by_driver, by_cc1 = self.folder / "driver.o", self.folder / "cc1.o"
        driver = [word for word in _DOCUMENT if not word.startswith("--sysroot")]
        subprocess.run([CLANG, *driver, "-x", "ir", bitcode, "-o", by_driver], check=True, capture_output=True)
        command = CompileCommand(cc1_command(_DOCUMENT, CLANG)).arguments(str(bitcode), str(by_cc1))
        subprocess.run([CLANG, *command], check=True)
        self.assertEqual(by_cc1.read_bytes(), by_driver.read_bytes())

    def test_the_command_names_no_place_of_this_machine(self):
        found = cc1_command([*_DOCUMENT, "--target=aarch64-linux-gnu"], CLANG)
        self.assertEqual(found[:3], ("-cc1", "-triple", "aarch64-unknown-linux-gnu"))
        self.assertIn("-import-instr-limit=30", found)
        self.assertFalse([word for word in found if "/" in word])

    def test_a_corpus_gets_the_cc1_command(self):
        found = with_cc1_override(self.corpus(_DOCUMENT), CLANG)
        self.assertEqual(found.modules[0].command, found.command_override)
        assert found.command_override is not None
        self.assertEqual(found.command_override[0], "-cc1")
        for other in (["-cc1", "-O2"], ["-O2"], ["<UNSPECIFIED>"], None):
            corpus = self.corpus(other)
            self.assertIs(with_cc1_override(corpus, CLANG), corpus)

    def test_hostile_and_wrong_overrides_are_refused_and_nothing_is_run(self):
        proof = self.folder / "proof"
        evil = self.script("evil.sh", f"touch {proof}")
        for override, message in (
            (["-c", f"-fplugin={evil}"], "has the driver's option -fplugin="),
            (["-c", "-mllvm", f"-load={evil}"], "which may do more than change code"),
            (["-c", f"-B{self.folder}", "-fno-integrated-as"], "has the driver's option -B"),
            (["-c", f"@{evil}"], "has the driver's option @"),
            (["-c", "-MJ", str(proof)], "has the driver's option -MJ"),
            (["-c", "-fnonsense"], "is no compile for clang.s driver .*unknown argument: .-fnonsense."),
            (["-c", "-mllvm"], "ends after -mllvm"),
            (["-fsyntax-only", "-c", "-fPIC"], "is no compile for clang.s driver .*writes no object"),
            (["-mcpu=help", "-c", "-nostdlib"], "is no compile for clang.s driver .*writes no object"),
            (["-c", "-fPIC", *["-O2"] * 200_000], "has 200,002 words, .*, more than the 1,048,576 allowed"),
            (["-c", "-fPIC", "-fvisibility=" + "a" * 200_000], "has a word of 200,013 bytes, more than the 131,071"),
        ):
            with self.subTest(message), self.assertRaisesRegex(RunError, message):
                if override[-1] == "-mllvm":
                    cc1_command(override, CLANG)
                with_cc1_override(self.corpus(override), CLANG)
        # cc1's own option for plug-ins belongs to the front end, so it is left out like everywhere.
        self.assertNotIn("-load", cc1_command(["-c", "-Xclang", "-load", "-Xclang", str(evil)], CLANG))
        self.assertFalse(proof.exists())

    def test_the_message_names_the_corpus(self):
        with self.assertRaisesRegex(CorpusError, "the global_command_override of corpus .*corpus: has the driver's"):
            with_cc1_override(self.corpus(["-c", "-save-temps"]), CLANG)

    def test_what_is_no_clang_is_one_sentence(self):
        with self.assertRaisesRegex(RunError, "cannot be asked for a command"):
            cc1_command(["-c"], self.folder / "absent")
