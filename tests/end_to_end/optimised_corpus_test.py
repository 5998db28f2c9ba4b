"""Generating code from optimised bitcode gives the objects and decisions that a whole compile gives, byte for byte."""

import pathlib
import tempfile
import unittest

import numpy as np

from mlgo.compiler.compile import compile_module
from mlgo.compiler.request import CompileLimits, CompileRequest, CompileResult
from mlgo.compiler.training_log import TrainingLog
from mlgo.corpus.corpus import Corpus, Module
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.trace.optimised_corpus import optimise_corpus
from mlgo.trace.setup import CompileSetup
from tests.end_to_end import real_modules

# Each of these compiles to another object when its bitcode does not keep the order of use lists.
_MODULES = [
    "llvm/lib/Bitcode/Reader/BitcodeAnalyzer.cpp",
    "llvm/lib/CodeGen/LiveVariables.cpp",
    "llvm/lib/Support/YAMLParser.cpp",
    "llvm/lib/Transforms/Utils/PredicateInfo.cpp",
]


class OptimisedCorpusTest(unittest.TestCase):
    def compiled(self, module: Module) -> tuple[bytes | None, TrainingLog]:
        """(object, log) of a compile that succeeds."""
        clang = real_modules.development_clang()
        outcome = compile_module(CompileRequest(clang, module, PROBLEM, want_object=True))
        assert isinstance(outcome, CompileResult), outcome
        assert outcome.log is not None
        return outcome.object_bytes, outcome.log

    def test_objects_and_logs_are_those_of_a_whole_compile(self):
        with tempfile.TemporaryDirectory() as scratch:
            whole = real_modules.named("held_out", _MODULES, pathlib.Path(scratch, "whole"))
            setup = CompileSetup(real_modules.development_clang(), PROBLEM, CompileLimits(), 2, 0.0)
            optimise_corpus(pathlib.Path(scratch, "optimised"), whole, setup, "optimised")
            optimised = Corpus.load(pathlib.Path(scratch, "optimised"))
            self.assertEqual(len(optimised.modules), len(_MODULES))
            for first, second in zip(whole.modules, optimised.modules, strict=True):
                with self.subTest(first.name):
                    (one_object, one), (other_object, other) = self.compiled(first), self.compiled(second)
                    self.assertEqual(one_object, other_object)
                    self.assertEqual(one.contexts, other.contexts)
                    np.testing.assert_array_equal(one.actions, other.actions)
                    np.testing.assert_array_equal(one.outcomes, other.outcomes)
                    for name, values in one.features.items():
                        self.assertEqual(values.tobytes(), other.features[name].tobytes(), name)
                    self.assertGreater(one.observation_count, 0)


if __name__ == "__main__":
    unittest.main()
