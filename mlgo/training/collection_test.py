"""Tests of mlgo.training.collection; compiling itself is tested end to end."""

import pathlib
import unittest

from mlgo.corpus.corpus import Module
from mlgo.learning.learner import Sample, Variant
from mlgo.training import collection


class FakeModels:
    """Remembers what lies on the disk, by name, and with which seed."""

    def __init__(self):
        self.there: dict[str, int | None] = {}
        self.networks_kept = True

    def write(self, network, name, exploration_seed):
        del network
        self.there[name] = exploration_seed
        return pathlib.Path(name)

    def remove(self, name):
        self.there.pop(name, None)

    def forget_networks(self):
        self.networks_kept = False


class VariantModelsTest(unittest.TestCase):
    def setUp(self):
        self.modules = [Module.at(name, "x.bc", ()) for name in ("a", "b")]

    def test_order(self):
        jobs = collection.jobs_of(self.modules, [Variant("n", True)] * 2)
        self.assertEqual([job.name for job in jobs], ["a 0", "a 1", "b 0", "b 1"])

    def test_greedy_networks_are_written_once_and_exploring_ones_per_compile(self):
        first, second = object(), object()
        variants = [
            Variant(first, False),
            Variant(second, False),
            Variant(first, False),
            Variant(first, True),
            Variant(first, True),
        ]
        models = FakeModels()
        of_variants = collection.VariantModels(models, variants, seed=1, iteration=2)
        jobs = collection.jobs_of(self.modules, variants)
        paths = {job.name: of_variants.write(job) for job in jobs}
        self.assertEqual(paths["a 0"], paths["b 2"])
        self.assertNotEqual(paths["a 0"], paths["a 1"])
        self.assertEqual(sorted(models.there), ["a 3", "a 4", "b 3", "b 4", "greedy 0", "greedy 1"])
        seeds = [seed for name, seed in models.there.items() if not name.startswith("greedy")]
        self.assertEqual(len(set(seeds)), 4)
        for job in jobs:
            of_variants.remove(job)
        self.assertEqual(sorted(models.there), ["greedy 0", "greedy 1"])
        of_variants.close()
        self.assertEqual(models.there, {})
        self.assertFalse(models.networks_kept)


class FiguresTest(unittest.TestCase):
    def test_rewards(self):
        samples = [Sample("a", 0, 0.0, 1.0), Sample("b", 0, 1.0, 3.0)]
        found = collection.reward_distribution(samples)
        self.assertEqual((found["mean"], found["lowest"], found["median"], found["highest"]), (0.75, 0.0, 0.5, 1.0))

    def test_failures(self):
        found = collection.failures_by_kind({"a 0": "timeout", "a 1": "crash", "b 0": "timeout"})
        self.assertEqual(found, {"crash": 1, "timeout": 2})


if __name__ == "__main__":
    unittest.main()
