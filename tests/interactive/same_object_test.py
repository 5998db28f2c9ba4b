"""A stock clang with decisions from the channel makes the same object as one that makes the decisions itself."""

import dataclasses
import os
import pathlib
import tempfile
import unittest

from mlgo.compiler.compile import compile_module
from mlgo.compiler.interactive import InteractiveCompile
from mlgo.compiler.request import CompileRequest, CompileResult
from mlgo.corpus.corpus import Corpus, Module
from mlgo.policy.collection import CollectionPolicy
from mlgo.policy.reference import decide
from mlgo.problems.problem import Problem, load_problem
from mlgo.run.locate import runfile
from tests.compilers.modules import SIZE_CORPUS
from tests.policies.policies import random_network, spread_normalizer

STOCK_CLANG = runfile("mlgo/environments/packaged_clang")
DEVELOPMENT_CLANG = runfile("development/clang")
SMALLEST_MODULES = 4
#: Of random policies that do not answer the same to everything.
SEEDS = {"regalloc_eviction": 1, "inlining_for_size": 9, "regalloc_priority": 1}


def small_modules(problem: Problem) -> list[Module]:
    """Hand-written modules with register pressure, and the smallest real ones; for inlining, those for size."""
    for_size = problem.name == "inlining_for_size"
    real = Corpus.load(runfile(SIZE_CORPUS if for_size else "mlgo/corpus/llvm_few_held_out")).modules
    smallest = sorted(real, key=lambda module: (module.bitcode_size, module.name))[:SMALLEST_MODULES]
    return smallest if for_size else [*Corpus.load(runfile("mlgo/environments/test_corpus")).modules, *smallest]


def request_for(module: Module, problem: Problem) -> CompileRequest:
    return CompileRequest(STOCK_CLANG, module, problem, want_log=False, want_object=True)


class SameObjectTest(unittest.TestCase):
    def good(self, outcome) -> CompileResult:
        self.assertIsInstance(outcome, CompileResult, outcome)
        return outcome

    def test_the_default_inlining_decisions_make_the_stock_object(self):
        problem = load_problem("inlining_for_size")
        decisions = 0
        # At -O2 the advisor's bookkeeping makes LLVM inline in another way, whatever is answered.
        for module in small_modules(problem):
            request = request_for(module, problem)
            with InteractiveCompile(request, include_default=True) as session:
                for observation in session:
                    session.answer(observation.features["inlining_default"])
                    decisions += 1
            stock = self.good(compile_module(request))
            self.assertEqual(self.good(session.outcome).object_bytes, stock.object_bytes, module.name)
        self.assertGreater(decisions, 1000)

    def test_a_policy_makes_the_object_of_the_development_clang(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in SEEDS:
                self.compare(load_problem(name), folder)

    def compare(self, problem: Problem, folder: str) -> None:
        # The channel of a stock clang has no features of ours.
        problem = dataclasses.replace(
            problem, observation_specs=problem.interactive_specs(), features_of_ours=frozenset()
        )
        network = random_network(spread_normalizer(problem), problem, SEEDS[problem.name])
        model = CollectionPolicy(problem, os.path.join(folder, problem.name)).write(network, "policy", None)
        answers, unlike_default = [], 0
        # The hand-written modules have evictions by the hundred, the smallest real ones inlining.
        for module in small_modules(problem)[: 2 if problem.name != "inlining_for_size" else 3]:
            request = request_for(module, problem)
            with InteractiveCompile(request) as session:
                for observation in session:
                    answers.append(decide(network, problem, observation.features))
                    session.answer(answers[-1])
            learned = dataclasses.replace(request, clang=pathlib.Path(DEVELOPMENT_CLANG), model_dir=model)
            interactive = self.good(session.outcome).object_bytes
            self.assertEqual(interactive, self.good(compile_module(learned)).object_bytes, (problem.name, module.name))
            unlike_default += interactive != self.good(compile_module(request)).object_bytes
        # Otherwise this would show nothing.
        self.assertGreater(len(answers), 100, problem.name)
        self.assertGreater(len({answer.item() for answer in answers}), 1, problem.name)
        self.assertGreater(unlike_default, 0, problem.name)


if __name__ == "__main__":
    unittest.main()
