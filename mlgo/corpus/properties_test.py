"""What sets modules apart: by their commands, in every spelling, and by their bitcode."""

import unittest

from mlgo.corpus import properties
from mlgo.corpus.command import CompileCommand
from mlgo.corpus.properties import NOT_INLINED, OPTIMISED, PROFILE, SANITIZED
from mlgo.corpus.testing.made_up_bitcode import FOR_SIZE, made_up_bitcode
from mlgo.corpus.testing.made_up_corpus import made_up_corpus
from mlgo.run.testing.folder_case import FolderCase

_PLAIN = made_up_bitcode([[FOR_SIZE]] * 3)
_OPTIMISED = made_up_bitcode([[FOR_SIZE]] * 3, optimised=True)


class CommandTest(unittest.TestCase):
    def test_each_property(self):
        for expected, options in {
            "optimised": "-disable-llvm-passes",
            "not_inlined": "-fno-inline-functions",
            "sanitized": "-fsanitize=address",
            "instrumented": "-fprofile-instrument=clang | -fcoverage-mapping | -fxray-instrument"
            "| -coverage-notes-file=/x/a.gcno | -fsanitize-coverage-type=3",
            "policy": "-mllvm -enable-ml-inliner=release | -mllvm --regalloc-enable-advisor -mllvm release"
            "| -mllvm -mlgo-search=8 | -mllvm -mlgo-decisions=/x/a.decisions",
            "heuristic": "-mllvm -inline-threshold=500 | -mllvm -ml-inliner-skip-policy=if-caller-not-cold",
            "profile": "-fprofile-instrument-use-path=files/a | -fprofile-sample-use=files/a",
            "lto": "-flto=full | -flto",
            "outliner": "-mllvm -enable-machine-outliner=never | -mllvm -machine-outliner-reruns=1",
            "debug_info": "-debug-info-kind=constructor",
            "other_objects": "-triple arm64-apple-macosx14.0.0 | -triple x86_64-pc-windows-msvc19.33.0"
            "| -triple wasm32-unknown-wasi | -triple powerpc64-ibm-aix7.2.0.0",
            "": "-O2 -triple x86_64-unknown-linux-gnu -ffunction-sections -mllvm -x86-align-branch=jcc"
            "| -fprofile-instrument=none | -mllvm -inline-asm-instr-cost=1 | -debug-info-kind=none"
            "| -triple aarch64-unknown-linux-android21 | -main-file-name -fsanitize=address",
        }.items():
            for words in options.split("|"):
                found = properties.of_command(CompileCommand(["-cc1", *words.split()]))
                self.assertEqual([kind.name for kind in found], [expected] if expected else [], words)

    def test_paths_are_not_shown(self):
        command = CompileCommand(["-fprofile-sample-use=/srv/me/a.prof", "-fsanitize=address,undefined"])
        found = properties.of_command(command)
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


class CorpusTest(FolderCase):
    def test_lines_name_modules_and_options(self):
        modules = {"x.o": (_OPTIMISED, ["-cc1", "-Oz"]), "y.o": (_PLAIN, ["-cc1", "-Oz"])}
        for number in range(5):
            command = ["-cc1", "-Oz", f"-fsanitize={'address' if number else 'thread'}"]
            modules[f"{number}.o"] = (made_up_bitcode([[FOR_SIZE]] * (number + 4)), command)
        found = properties.of_corpus(made_up_corpus(self.folder, modules))
        first, second = properties.lines(found, 7)
        self.assertRegex(first, r"^1 of 7 modules hold bitcode that the optimiser has run on, .* \(x\.o\)$")
        examples = r"\(-fsanitize=address, -fsanitize=thread: 0\.o, 1\.o, 2\.o, \.\.\.\)$"
        self.assertRegex(second, rf"^5 of 7 modules .*sanitizers; .* {examples}")
        self.assertEqual(properties.lines({}, 7), [])
