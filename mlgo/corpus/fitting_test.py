"""Modules that a problem is not for are left out, by name, also of a mixed corpus."""

import pathlib
import tempfile
import unittest

from mlgo.corpus.corpus import Corpus, CorpusError
from mlgo.corpus.fitting import fitting_modules, tell_properties
from mlgo.corpus.testing.made_up_bitcode import FOR_SIZE, MIN_SIZE, made_up_bitcode
from mlgo.corpus.writer import CorpusWriter
from mlgo.problems.problem import load_problem
from mlgo.run.exit_codes import ExitCode

_INLINING, _EVICTION = load_problem("inlining_for_size"), load_problem("regalloc_eviction")
_FUNCTIONS = [[MIN_SIZE, FOR_SIZE]] * 3
#: Name -> (whether the optimiser has run on it, its command).
_MIXED = {
    "a.o": (False, ("-Oz",)),
    "driver.o": (True, ("-Oz", "-disable-llvm-passes")),
    "ir.o": (True, ("-Oz",)),
    "noinline.o": (False, ("-Oz", "-fno-inline")),
    "z.o": (False, ("-Oz", "-fsanitize=address")),
}


class FittingTest(unittest.TestCase):
    def corpus(self, modules, override=None) -> Corpus:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        with CorpusWriter(pathlib.Path(scratch.name, "c"), command_override=override) as writer:
            for name, (optimised, command) in modules.items():
                # Modules that differ: equal ones would be one.
                bitcode = made_up_bitcode(_FUNCTIONS, [[FOR_SIZE]] * len(name), optimised=optimised)
                writer.add(name, bitcode, None if override else ("-cc1", *command))
            writer.finish()
        self.said = []
        return Corpus.load(pathlib.Path(scratch.name, "c"))

    def fitting(self, problem, corpus) -> list[str]:
        return [module.name for module in fitting_modules(problem, corpus, self.said.append).modules]

    def test_inlining_leaves_out_what_is_inlined_already(self):
        self.assertEqual(self.fitting(_INLINING, self.corpus(_MIXED)), ["a.o", "z.o"])
        optimised, off = self.said
        self.assertRegex(
            optimised, r"^left out of .*/c: 2 of 5 modules hold bitcode that the optimiser has run on.*driver"
        )
        self.assertRegex(optimised, r"\(driver\.o, ir\.o\)$")
        self.assertRegex(off, r"1 of 5 modules are compiled with inlining off.*\(-fno-inline: noinline\.o\)$")

    def test_code_generation_takes_them(self):
        self.assertEqual(self.fitting(_EVICTION, self.corpus(_MIXED)), sorted(_MIXED))
        self.assertEqual(self.said, [])

    def test_one_command_for_all_modules(self):
        corpus = self.corpus({name: _MIXED[name] for name in ("a.o", "ir.o")}, override=("-Oz",))
        self.assertEqual(self.fitting(_INLINING, corpus), ["a.o"])

    def test_a_corpus_of_nothing_else(self):
        corpus = self.corpus({name: _MIXED[name] for name in ("driver.o", "ir.o")})
        with self.assertRaisesRegex(
            CorpusError, r"has no module for inlining_for_size: 2 of 2 modules hold bitcode .*\n.*-Xclang -fembed"
        ) as raised:
            self.fitting(_INLINING, corpus)
        self.assertEqual(raised.exception.exit_code, ExitCode.NOTHING_PRODUCED)

    def test_other_properties_are_told(self):
        tell_properties(self.corpus(_MIXED), self.said.append)
        (line,) = self.said
        self.assertRegex(
            line, r"^note on .*/c: 1 of 5 modules are built with sanitizers; .* \(-fsanitize=address: z\.o\)$"
        )


if __name__ == "__main__":
    unittest.main()
