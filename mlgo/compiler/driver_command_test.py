"""Hand-written overrides, turned into cc1 commands by the packaged clang."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from mlgo.compiler.driver_command import cc1_command, with_cc1_override
from mlgo.corpus.command import CompileCommand
from mlgo.corpus.corpus import Corpus, CorpusError
from mlgo.corpus.writer import CorpusWriter
from mlgo.run.exit_codes import RunError

CLANG = pathlib.Path(sys.argv.pop(1)).absolute()

_DOCUMENT = (
    "-fPIC -mllvm -instcombine-lower-dbg-declare=0 -mllvm -import-instr-limit=30 -no-canonical-prefixes -O2 -nostdlib++"
    " --sysroot=/absent -c"
).split()


class DriverCommandTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def corpus(self, override) -> Corpus:
        with CorpusWriter(self.folder / "corpus", command_override=override) as writer:
            writer.add("a", b"bitcode", None if override else ("-cc1",))
            writer.finish()
        return Corpus.load(self.folder / "corpus")

    def test_the_document_s_override_compiles_as_the_driver_compiles_it(self):
        source, bitcode = self.folder / "a.c", self.folder / "a.bc"
        source.write_text("int g; int f(int *p) { int s = 0; for (int i = 0; i < 64; ++i) s += p[i]; return s + g; }")
        subprocess.run(
            [CLANG, "-O2", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", source, "-o", bitcode], check=True
        )
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
        evil = self.folder / "evil.sh"
        evil.write_text(f"#!/bin/sh\ntouch {proof}\n")
        evil.chmod(0o755)
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


if __name__ == "__main__":
    unittest.main()
