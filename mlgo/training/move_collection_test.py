"""Moves of modules in a toy language, in which the size of every choice of inlining can be computed."""

import pathlib
import tempfile
import unittest

import numpy as np

from mlgo.compiler.request import CompileLimits
from mlgo.corpus.corpus import Module
from mlgo.learning.learner import MovePlan, Sample
from mlgo.learning.normalization import build_normalizer
from mlgo.run.exit_codes import RunError
from mlgo.score.code_size import counting_of
from mlgo.score.function_scores import FunctionScore
from mlgo.score.problem_score import score_of
from mlgo.search.build import Attempt, Policy
from mlgo.search.testing.toy_compiler import Function, ToyCompiler
from mlgo.search.testing.toy_executor import TOY_PROBLEM, ToyExecutor, limit_of
from mlgo.trace.setup import CompileSetup
from mlgo.training.collection import Seconds
from mlgo.training.move_collection import MoveCollection

#: To inline one call of `callee` costs 5 bytes; all three save 3 calls and the function: 15 + 20 - 3 * 10.
SHARED = {"callee": Function(20, saving=10), "large": Function(60)} | {
    f"user{index}": Function(30, ("callee", "large"), is_local=False) for index in range(3)
}
CHAIN = {"a": Function(20, saving=4), "b": Function(9, ("a", "a")), "c": Function(40, ("b", "a"), False)}
PROGRAMS = {"p/shared": SHARED, "p/chain": CHAIN}
PLAN = MovePlan(compiles=8, against_policy=4, unpromising=1.0)


class MoveCollectionTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.model = pathlib.Path(scratch.name)
        (self.model / "model.tflite").write_bytes(b"\x05")
        self.modules = [Module.at(name, "x.bc", ()) for name in PROGRAMS]

    def collection(self, plan=PLAN, workers=1, failing=(), ratio=0.6) -> MoveCollection:
        setup = CompileSetup(
            pathlib.Path("clang"), TOY_PROBLEM, CompileLimits(), workers, ratio, ToyExecutor(PROGRAMS, failing=failing)
        )
        default = {}
        for name, program in PROGRAMS.items():
            build = ToyCompiler(program).build(Attempt(Policy("default")))
            default[name] = {function: FunctionScore(0, size) for function, size in build.sizes.items()}
        counting = counting_of("comdat_weighted_code", default)
        measure = score_of(TOY_PROBLEM).measure(default)
        normalizer = build_normalizer({"cost_estimate": np.arange(-20.0, 60.0)}, TOY_PROBLEM)
        return MoveCollection("round", plan, setup, default, counting, measure, normalizer, 1, 0, Seconds())

    def test_every_move_is_worth_what_was_measured(self):
        limit = limit_of(self.model)
        samples = self.collection().samples(self.modules, self.model)
        policy = [sample for sample in samples if sample.variant == 0]
        self.assertEqual([sample.module for sample in policy], list(PROGRAMS))
        checked = set()
        for sample in policy:
            compiler = ToyCompiler(PROGRAMS[sample.module], limit)
            build = compiler.build(Attempt(Policy("model")))
            self.assertEqual(sample.contexts, tuple(build.decided))
            self.assertEqual(sample.observations.actions.tolist(), list(build.decided.values()))
            for move in sample.moves:
                sites = [sample.contexts[index] for index in move.decisions]
                turned = {site: not build.decided[site] for site in sites}
                again = compiler.build(Attempt(Policy("model"), build.all_given | turned))
                self.assertAlmostEqual(move.saved_bytes, build.total - again.total, msg=sites)
                checked.add(len(sites))
        # Single calls, and all calls of a function.
        self.assertLessEqual({1, 3}, checked)

    def test_the_search_goes_on_from_the_policy(self):
        samples = self.collection(MovePlan(20, 6, 1.0)).samples(self.modules, self.model)
        of_shared = [sample for sample in samples if sample.module == "p/shared"]
        self.assertEqual([sample.variant for sample in of_shared], list(range(len(of_shared))))
        self.assertGreater(max(sample.improvement for sample in of_shared), of_shared[0].improvement)

    def test_the_number_of_workers_and_failures_elsewhere_change_nothing(self):
        def described(samples: list[Sample]) -> list[tuple]:
            return [
                (
                    sample.module,
                    sample.variant,
                    sample.improvement,
                    sample.observations.levels.tobytes(),
                    [(move.decisions.tolist(), move.saved_bytes) for move in sample.moves],
                )
                for sample in samples
            ]

        whole = described(self.collection().samples(self.modules, self.model))
        self.assertEqual(described(self.collection(workers=3).samples(self.modules, self.model)), whole)
        part = self.collection(failing={"p/shared"})
        self.assertEqual(
            described(part.samples(self.modules, self.model)), [each for each in whole if each[0] == "p/chain"]
        )
        self.assertEqual(part.failed, {"p/shared, compile 1": "crash"})

    def test_the_compiles_are_bounded_and_counted(self):
        for plan in (MovePlan(2, 1, 0.0), MovePlan(5, 2, 0.5)):
            collection = self.collection(plan)
            collection.samples(self.modules, self.model)
            self.assertLessEqual(collection.compiles, plan.compiles * len(self.modules))
            self.assertGreaterEqual(collection.compiles, 2 * len(self.modules))

    def test_failures_end_an_iteration(self):
        with self.assertRaisesRegex(RunError, "round"):
            self.collection(failing=set(PROGRAMS), ratio=0.0).samples(self.modules, self.model)
        with self.assertRaisesRegex(RunError, "none of 2 modules has a score"):
            self.collection(failing=set(PROGRAMS)).samples(self.modules, self.model)


if __name__ == "__main__":
    unittest.main()
