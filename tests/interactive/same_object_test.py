"""The object of a stock clang whose decisions come over the channel, against one that takes the same decisions itself."""

import dataclasses
import os
import pathlib
import tempfile
import unittest

import numpy as np

from mlgo.compiler.compile import compile_module
from mlgo.compiler.interactive import InteractiveCompile
from mlgo.compiler.request import CompileRequest, CompileResult
from mlgo.corpus.corpus import Corpus, Module
from mlgo.learning.network import PolicyNetwork, initial_network
from mlgo.learning.normalization import Column, Normalizer
from mlgo.policy.collection import CollectionPolicy
from mlgo.policy.reference import decide
from mlgo.problems.problem import Problem, load_problem
from mlgo.run.locate import runfile

STOCK_CLANG = runfile("mlgo/environments/packaged_clang")
DEVELOPMENT_CLANG = runfile("development/clang")
SMALLEST_MODULES = 4
#: Of random policies that do not answer the same to everything.
SEEDS = {"regalloc_eviction": 5, "inlining_for_size": 2, "regalloc_priority": 5}


def small_modules() -> list[Module]:
    """Hand-written modules with register pressure, and the smallest real ones."""
    real = Corpus.load(runfile("mlgo/corpus/llvm_small_held_out")).modules
    smallest = sorted(real, key=lambda module: (module.bitcode_path.stat().st_size, module.name))[:SMALLEST_MODULES]
    return [*Corpus.load(runfile("mlgo/environments/test_corpus")).modules, *smallest]


def request_for(module: Module, problem: Problem, *flags: str) -> CompileRequest:
    return CompileRequest(STOCK_CLANG, module, problem, want_log=False, want_object=True, extra_flags=flags)


def random_policy(problem: Problem, seed: int) -> PolicyNetwork:
    """Weights drawn wide enough that decisions differ from one observation to the next."""
    knots = {"int64": ((0, 5), (5, 1000)), "float32": ((0.0, 0.1), (0.1, 1.0))}
    specs = [spec for spec in problem.observation_specs if spec.name != problem.mask_feature]
    columns = tuple(Column(spec.name, *pair) for spec in specs for pair in knots[spec.dtype])
    network = initial_network(
        Normalizer(problem.name, columns, (), mark_last_position=problem.mask_feature is not None), seed
    )
    random = np.random.default_rng(seed)
    weights = {
        name: (2 * weight + 0.1 * random.standard_normal(weight.shape)).astype(np.float32)
        for name, weight in network.weights.items()
    }
    output = weights["policy/logits/kernel"]
    if problem.decision_kind == "yes_no":
        output -= output.mean()
    if problem.decision_kind == "number":
        output *= np.float32(100)
    return network.with_weights(weights)


class SameObjectTest(unittest.TestCase):
    def good(self, outcome) -> CompileResult:
        self.assertIsInstance(outcome, CompileResult, outcome)
        return outcome

    def test_the_default_inlining_decisions_make_the_stock_object(self):
        problem = load_problem("inlining_for_size")
        decisions = 0
        for module in small_modules():
            # At -O2 the advisor's bookkeeping makes LLVM inline in another way, whatever is answered.
            request = request_for(module, problem, "-Oz")
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
        network = random_policy(problem, SEEDS[problem.name])
        model = CollectionPolicy(problem, os.path.join(folder, problem.name)).write(network, "policy", None)
        answers, unlike_default = [], 0
        # The hand-written modules have evictions by the hundred, the smallest real ones inlining.
        for module in small_modules()[: 2 if problem.name != "inlining_for_size" else 3]:
            request = request_for(module, problem, "-Oz" if problem.name == "inlining_for_size" else "-O2")
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
