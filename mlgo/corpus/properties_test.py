"""What sets modules apart: by their commands, in every spelling, and by their bitcode."""

import pathlib
import tempfile
import unittest

from mlgo.corpus import properties
from mlgo.corpus.command import CompileCommand
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.properties import (
    DEBUG,
    HEURISTIC,
    INSTRUMENTED,
    LTO,
    NOT_INLINED,
    OPTIMISED,
    OTHER_OBJECTS,
    OUTLINER,
    POLICY,
    PROFILE,
    SANITIZED,
)
from mlgo.corpus.testing.made_up_bitcode import FOR_SIZE, made_up_bitcode
from mlgo.corpus.writer import CorpusWriter

_PLAIN = made_up_bitcode([[FOR_SIZE]] * 3)
_OPTIMISED = made_up_bitcode([[FOR_SIZE]] * 3, optimised=True)


class CommandTest(unittest.TestCase):
    def test_each_property(self):
        for words, expected in (
            ("-O2 -triple x86_64-unknown-linux-gnu -ffunction-sections -mllvm -x86-align-branch=jcc", None),
            ("-disable-llvm-passes", OPTIMISED),
            ("-fno-inline-functions", NOT_INLINED),
            ("-fsanitize=address", SANITIZED),
            ("-fprofile-instrument=clang", INSTRUMENTED),
            ("-fprofile-instrument=none", None),
            ("-fcoverage-mapping", INSTRUMENTED),
            ("-fxray-instrument", INSTRUMENTED),
            ("-coverage-notes-file=/x/a.gcno", INSTRUMENTED),
            ("-fsanitize-coverage-type=3", INSTRUMENTED),
            ("-mllvm -enable-ml-inliner=release", POLICY),
            ("-mllvm --regalloc-enable-advisor -mllvm release", POLICY),
            ("-mllvm -mlgo-search=8", POLICY),
            ("-mllvm -mlgo-decisions=/x/a.decisions", POLICY),
            ("-mllvm -inline-threshold=500", HEURISTIC),
            ("-mllvm -ml-inliner-skip-policy=if-caller-not-cold", HEURISTIC),
            ("-mllvm -inline-asm-instr-cost=1", None),
            ("-fprofile-instrument-use-path=files/a", PROFILE),
            ("-fprofile-sample-use=files/a", PROFILE),
            ("-flto=full", LTO),
            ("-flto", LTO),
            ("-mllvm -enable-machine-outliner=never", OUTLINER),
            ("-mllvm -machine-outliner-reruns=1", OUTLINER),
            ("-debug-info-kind=constructor", DEBUG),
            ("-debug-info-kind=none", None),
            ("-triple arm64-apple-macosx14.0.0", OTHER_OBJECTS),
            ("-triple x86_64-pc-windows-msvc19.33.0", OTHER_OBJECTS),
            ("-triple wasm32-unknown-wasi", OTHER_OBJECTS),
            ("-triple powerpc64-ibm-aix7.2.0.0", OTHER_OBJECTS),
            ("-triple aarch64-unknown-linux-android21", None),
            ("-main-file-name -fsanitize=address", None),
        ):
            found = properties.of_command(CompileCommand(["-cc1", *words.split()]))
            self.assertEqual(list(found), [expected] if expected else [], words)

    def test_paths_are_not_shown(self):
        found = properties.of_command(
            CompileCommand(["-fprofile-sample-use=/srv/me/a.prof", "-fsanitize=address,undefined"])
        )
        self.assertEqual(found, {PROFILE: "-fprofile-sample-use=", SANITIZED: "-fsanitize=address,undefined"})


class ModuleTest(unittest.TestCase):
    def test_bitcode_tells_whether_the_optimiser_has_run(self):
        self.assertEqual(properties.of_module(CompileCommand(["-Oz"]), _PLAIN, is_thinlto=False), {})
        self.assertEqual(properties.of_module(CompileCommand(["-Oz"]), _OPTIMISED, is_thinlto=False), {OPTIMISED: ""})

    def test_the_optimiser_off_over_bitcode_that_it_has_not_seen(self):
        found = properties.of_module(CompileCommand(["-Oz", "-disable-llvm-passes"]), _PLAIN, is_thinlto=False)
        self.assertEqual(found, {NOT_INLINED: "-disable-llvm-passes"})

    def test_modules_of_thinlto_are_optimised_as_they_should_be(self):
        self.assertEqual(properties.of_module(CompileCommand(["-O2", "-flto=thin"]), _OPTIMISED, is_thinlto=True), {})


class CorpusTest(unittest.TestCase):
    def test_lines_name_modules_and_options(self):
        with tempfile.TemporaryDirectory() as scratch:
            with CorpusWriter(pathlib.Path(scratch, "c")) as writer:
                for number in range(5):
                    bitcode = made_up_bitcode([[FOR_SIZE]] * (number + 4))
                    writer.add(
                        f"{number}.o", bitcode, ("-cc1", "-Oz", f"-fsanitize={'address' if number else 'thread'}")
                    )
                writer.add("x.o", _OPTIMISED, ("-cc1", "-Oz"))
                writer.add("y.o", _PLAIN, ("-cc1", "-Oz"))
                writer.finish()
            found = properties.of_corpus(Corpus.load(pathlib.Path(scratch, "c")))
        first, second = properties.lines(found, 7)
        self.assertRegex(first, r"^1 of 7 modules hold bitcode that the optimiser has run on, .* \(x\.o\)$")
        self.assertRegex(
            second,
            r"^5 of 7 modules .*sanitizers; .* \(-fsanitize=address, -fsanitize=thread: 0\.o, 1\.o, 2\.o, \.\.\.\)$",
        )
        self.assertEqual(properties.lines({}, 7), [])


if __name__ == "__main__":
    unittest.main()
