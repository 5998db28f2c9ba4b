"""Tests of mlgo.training.collection; compiling itself is tested end to end."""

import dataclasses
import math
import pathlib
import unittest
from typing import Any
from unittest import mock

import numpy as np

from mlgo.corpus.corpus import Module
from mlgo.learning.learner import Sample, Variant
from mlgo.learning.network import AnyPolicy, NetworkConfig, PolicyNetwork, initial_network
from mlgo.learning.observations import pack
from mlgo.learning.returns import fitness_of, returns_of
from mlgo.learning.testing import synthetic
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.score.function_scores import FunctionScore
from mlgo.trace.outcomes import ModuleRecord, Outcome
from mlgo.training import collection


class FakeModels:
    """Remembers what lies on the disk, by name, and with which seed."""

    def __init__(self):
        self.there: dict[str, int | None] = {}
        self.networks_kept = True

    def write(self, network: AnyPolicy, name: str, exploration_seed: int | None) -> pathlib.Path:
        self.there[name] = exploration_seed
        return pathlib.Path(name)

    def remove(self, name: str) -> None:
        self.there.pop(name, None)

    def forget_networks(self) -> None:
        self.networks_kept = False


def _network(seed: int) -> PolicyNetwork:
    return initial_network(synthetic.normalizer(), seed, NetworkConfig((4,), (4,)))


class CompileJobsTest(unittest.TestCase):
    def setUp(self):
        self.modules = [Module.at(name, "x.bc", ()) for name in ("a", "b")]

    def test_greedy_networks_are_written_once_and_exploring_ones_per_compile(self):
        first, second = _network(1), _network(2)
        greedy = [Variant(network, False) for network in (first, second, first)]
        variants = [*greedy, Variant(first, True), Variant(first, True)]
        models = FakeModels()
        jobs = collection.jobs_of(self.modules, variants)
        self.assertEqual([job.name for job in jobs], [f"{module} {index}" for module in "ab" for index in range(5)])
        setup: Any = None
        compiling = collection.compile_jobs(jobs, setup, models, 1, 2, [False] * len(jobs))

        def compile_modules(modules, setup, written, wants_log):
            """Compiles when all models are written. The outcome is the model."""
            yield from zip(modules, list(written))

        with mock.patch.object(collection, "compile_modules", compile_modules):
            paths = {jobs[0].name: next(compiling)}
            self.assertEqual(sorted(models.there), ["a 3", "a 4", "b 3", "b 4", "greedy 0", "greedy 1"])
            seeds = [seed for name, seed in models.there.items() if not name.startswith("greedy")]
            self.assertEqual(len(set(seeds)), 4)
            for job in jobs[1:]:
                paths[job.name] = next(compiling)
                self.assertNotIn(job.name, models.there)
            self.assertEqual(sorted(models.there), ["greedy 0", "greedy 1"])
            compiling.close()
        self.assertEqual(paths["a 0"], paths["b 2"])
        self.assertNotEqual(paths["a 0"], paths["a 1"])
        self.assertEqual(models.there, {})
        self.assertFalse(models.networks_kept)


class FailedTest(unittest.TestCase):
    def setUp(self):
        functions = {"f": FunctionScore(1, 100.0), "g": FunctionScore(1, 100.0)}
        default = {"m": ModuleRecord(Outcome.TRACED, None, functions)}
        self.scoring = collection.Scoring(PROBLEM, default, "")
        values = synthetic.features(np.random.default_rng(1), 2)
        packed = pack(values, synthetic.best(values), synthetic.normalizer(), synthetic.PROBLEM, np.arange(2))
        self.samples = [
            Sample("m", variant, 0.1, 2.0, packed, ("f", "g"), {"f": f, "g": g})
            for variant, f, g in ((0, 0.3, 0.2), (2, 0.1, -0.5), (3, 0.1, 0.3))
        ]

    def with_failed(self, *variants: int, samples=None) -> list[Sample]:
        samples = self.samples if samples is None else samples
        return self.scoring.with_failed(samples, variants)

    def test_a_failed_compile_counts_as_the_worst(self):
        found = self.with_failed(1)
        self.assertEqual([sample.variant for sample in found], [0, 1, 2, 3])
        lost = found[1]
        self.assertTrue(lost.failed)
        self.assertEqual((lost.improvement, lost.weight), (-math.log(10), 2.0))
        self.assertEqual(lost.credits, {"f": -0.5, "g": -0.5})
        better = [dataclasses.replace(sample, credits={"f": 0.5}) for sample in self.samples]
        self.assertEqual(self.with_failed(1, samples=better)[1].credits, {"f": 0.0})
        self.assertEqual(collection.improvement_distribution(found)["lowest"], 0.1)

    def test_decisions_of_other_compiles_are_preferred_to_those_of_a_failed_one(self):
        _, alone = returns_of(self.samples, leave_one_out=True)
        _, beside = returns_of(self.with_failed(1), leave_one_out=True)
        self.assertAlmostEqual(float(alone.mean()), 0.0, places=6)
        self.assertEqual(len(beside), len(alone))
        self.assertGreater(float(beside.mean()), 0.1)

    def test_a_candidate_whose_module_fails_is_the_worst(self):
        other = [Sample("n", variant, 0.5 * (variant == 1), 2.0) for variant in range(4)]
        fitness, modules = fitness_of([*self.with_failed(1), *other], 4, 0.0)
        self.assertEqual((int(np.argmin(fitness)), modules), (1, 2))

    def test_without_another_compile_there_is_nothing_to_compare(self):
        self.assertEqual(self.with_failed(0, 1, samples=[]), [])


class FiguresTest(unittest.TestCase):
    def test_rewards(self):
        samples = [Sample("a", 0, 0.0, 1.0), Sample("b", 0, 1.0, 3.0)]
        found = collection.improvement_distribution(samples)
        self.assertEqual((found["mean"], found["lowest"], found["median"], found["highest"]), (0.75, 0.0, 0.5, 1.0))

    def test_failures(self):
        found = collection.failures_by_kind({"a 0": "timeout", "a 1": "crash", "b 0": "timeout"})
        self.assertEqual(found, {"crash": 1, "timeout": 2})
