"""verify_corpus says why an object differs: real builds, compiled again. Arguments: clang, llvm-objcopy."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from mlgo.compiler.verification import originals
from mlgo.compiler.verification.comparison import Comparer, Reason
from mlgo.compiler.verification.verify import verify
from mlgo.corpus import elf
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.extraction.extraction import Extraction, extract

OBJCOPY = pathlib.Path(sys.argv.pop(2)).absolute()
CLANG = pathlib.Path(sys.argv.pop(1)).absolute()

_SOURCE = "int table[4];\nint f(int i) { return table[i & 3] * 7; }\n"
_TARGET = ("--target=x86_64-pc-linux-gnu", "-ffreestanding")


class LikelyTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.root / "build").mkdir()

    def compile(self, *flags: str, source: str = _SOURCE) -> None:
        (self.root / "build/m.c").write_text(source, encoding="ascii")
        command = [str(CLANG), *_TARGET, "-O2", "-Xclang", "-fembed-bitcode=all", *flags, "-c", "m.c", "-o", "m.o"]
        subprocess.run(command, cwd=self.root / "build", check=True)

    def extracted(self) -> Corpus:
        output = self.root / "corpus"
        extract(Extraction(output, input=self.root / "build", input_type="directory", workers=1, verbosity="ERROR"))
        return Corpus.load(output)

    def detail(self, corpus: Corpus) -> str:
        found = verify(corpus, CLANG, Comparer(OBJCOPY), originals.finder(self.root / "build"), workers=1)
        self.assertEqual(found.same, ())
        (difference,) = found.different.values()
        self.assertEqual(difference.reason, Reason.SECTIONS_DIFFER)
        return difference.detail

    def test_sanitizers(self):
        self.compile("-fsanitize=address")
        self.assertRegex(
            self.detail(self.extracted()), r"\.rodata.*; probably -fsanitize=address, which puts the name of the comp"
        )

    def test_coverage_whose_file_a_corpus_does_not_keep(self):
        self.compile("--coverage")
        self.assertRegex(
            self.detail(self.extracted()), r"; probably -coverage-.*-file=.* of the build's command, which"
        )

    def test_a_policy(self):
        self.compile()
        # The packaged clang has none: the build's object is that of another threshold, and its command is made up.
        recorded = self.root / "m.cmd"
        subprocess.run(
            [OBJCOPY, f"--dump-section=.llvmcmd={recorded}", self.root / "build/m.o", "/dev/null"], check=True
        )
        corpus = self.extracted()
        bitcode = self.root / "m.bc"
        bitcode.write_bytes(corpus.modules[0].read_bitcode())
        subprocess.run([CLANG, *_TARGET, "-O0", "-x", "ir", "-c", bitcode, "-o", self.root / "build/m.o"], check=True)
        recorded.write_bytes(recorded.read_bytes() + b"-mllvm\0-enable-ml-inliner=release\0")
        sections = [f"--add-section=.llvmbc={bitcode}", f"--add-section=.llvmcmd={recorded}"]
        subprocess.run([OBJCOPY, *sections, self.root / "build/m.o"], check=True)
        self.assertRegex(
            self.detail(corpus), r"\.text.*; probably -mllvm -enable-ml-inliner=release of the build's command"
        )

    def test_an_original_that_was_compiled_again(self):
        self.compile()
        corpus = self.extracted()
        self.compile(source=_SOURCE.replace("7", "9"))
        self.assertRegex(
            self.detail(corpus), r"; the original was compiled again since the extraction: .*Extract again$"
        )

    def test_debug_information_alone(self):
        self.compile("-g")
        corpus = self.extracted()
        # As a build whose objects went through a tool that changes debug information.
        place = self.root / "build/m.o"
        content = bytearray(place.read_bytes())
        file = elf.ElfFile.of_bytes(bytes(content))
        names = file.section_names()
        (line,) = (each for each in file.sections if elf.string_at(names, each.name) == ".debug_line")
        content[line.offset + line.size - 1] ^= 1
        place.write_bytes(content)
        self.assertEqual(
            self.detail(corpus),
            ".debug_line; only debug information differs, such as its paths; code and data are the same",
        )


if __name__ == "__main__":
    unittest.main()
