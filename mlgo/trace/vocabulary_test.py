import dataclasses
import pathlib
import unittest
from unittest import mock

import numpy as np

from mlgo.compiler.testing.log_writer import SMALL_PROBLEM
from mlgo.problems.problem import Problem, load_problem
from mlgo.problems.tensor import TensorSpec
from mlgo.run.testing.folder_case import FolderCase
from mlgo.score.function_scores import FunctionScore
from mlgo.trace import vocabulary
from mlgo.trace.outcomes import ModuleRecord, Outcome
from mlgo.trace.trace import Decisions, Trace
from mlgo.trace.vocabulary import VocabularyConfig

_SPECS = {"mask": ("int64", (1, 4)), "weight": ("float32", (1, 4)), "progress": ("float32", (1,))}
PROBLEM = dataclasses.replace(
    SMALL_PROBLEM,
    observation_specs=tuple(TensorSpec(name, *spec) for name, spec in _SPECS.items()),
    action_count=4,
    mask_feature="mask",
)


class FakeTrace(Trace):
    """Six modules of 50 random observations; padding is -1000."""

    def __init__(self):
        record = ModuleRecord(Outcome.TRACED, functions={"f": FunctionScore(50, 1.0)})
        super().__init__(pathlib.Path("/nowhere"), {f"module{index}": record for index in range(6)})
        self.read: list[str] = []

    def decisions(self, name: str, problem: Problem) -> Decisions:
        self.read.append(name)
        generator = np.random.Generator(np.random.Philox(self.traced.index(name)))
        mask = generator.integers(0, 2, (50, 1, 4))
        weight = np.where(mask == 1, generator.random((50, 1, 4)), -1000.0).astype(np.float32)
        weight[0, 0, :] = np.nan
        features = {"mask": mask, "weight": weight, "progress": generator.random((50, 1)).astype(np.float32)}
        return Decisions(name, features, np.zeros(50, np.int64), np.zeros(50, np.int32))


class EmbeddingsTest(unittest.TestCase):
    def test_each_number_is_sampled_for_itself(self):
        problem = load_problem("inlining_for_size+ir2vec.3.0123456789abcdef")
        count = 4
        features = {spec.name: np.zeros((count, *spec.shape), spec.dtype) for spec in problem.observation_specs}
        features["callee_embedding"] = np.arange(12, dtype=np.float32).reshape(count, 3)
        decisions = Decisions("m", features, np.zeros(count, np.int64), np.zeros(count, np.int32))
        found = vocabulary.sampled(decisions, problem, np.array([1, 3]))
        np.testing.assert_array_equal(found["callee_embedding[2]"], [5, 11])
        self.assertEqual(len(found), 42 + 6)
        self.assertNotIn("callee_embedding", found)


class VocabularyTest(FolderCase):
    def build(self, name="v", trace=None, seed=1, **config):
        folder = self.folder / name
        vocabulary.build_vocabulary(folder, trace or FakeTrace(), PROBLEM, VocabularyConfig(**config), seed)
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    def test_quantiles_without_padding_and_nan(self):
        files = self.build(quantiles=11)
        self.assertEqual(sorted(files), ["mask.buckets", "progress.buckets", "weight.buckets"])
        trace = FakeTrace()
        features = [trace.decisions(name, PROBLEM).features for name in trace.traced]
        legal = np.concatenate([f["weight"][f["mask"] == 1] for f in features]).astype(np.float64)
        expected = np.quantile(legal[np.isfinite(legal)], np.linspace(0, 1, 11))
        found = np.array([float(line) for line in files["weight.buckets"].split()])
        np.testing.assert_array_equal(found, expected)
        self.assertGreaterEqual(found.min(), 0)

    def test_sample_depends_on_the_seed_only(self):
        first = self.build("a", sample_size=40)
        self.assertEqual(self.build("b", sample_size=40), first)
        self.assertEqual(self.build("c", sample_size=40, checkpoint_modules=1), first)
        self.assertNotEqual(self.build("d", sample_size=40, seed=2), first)

    def test_interrupted_run_goes_on_and_gives_the_same(self):
        class Interrupted(FakeTrace):
            def decisions(self, name, problem):
                if name == "module4":
                    raise KeyboardInterrupt
                return super().decisions(name, problem)

        whole = self.build("whole", sample_size=40, checkpoint_modules=2)
        with self.assertRaises(KeyboardInterrupt):
            self.build("half", trace=Interrupted(), sample_size=40, checkpoint_modules=2)
        trace = FakeTrace()
        self.assertEqual(self.build("half", trace=trace, sample_size=40, checkpoint_modules=2), whole)
        self.assertEqual(sorted(trace.read), ["module4", "module5"])

    def test_sample_is_uniform_over_the_trace(self):
        # 300 observations with a number each of 0 .. 299 under `progress`; about 100 of them are kept.
        class Numbered(FakeTrace):
            def decisions(self, name, problem):
                decisions = super().decisions(name, problem)
                first = 50.0 * self.traced.index(name)
                progress = np.arange(first, first + 50, dtype=np.float32).reshape(50, 1)
                return dataclasses.replace(decisions, features={**decisions.features, "progress": progress})

        means = []
        for seed in range(20):
            files = self.build(f"seed{seed}", Numbered(), seed, sample_size=100)
            means.append(np.mean([float(line) for line in files["progress.buckets"].split()]))
        # A mean of 100 of 0 .. 299 has a standard deviation of 7.1, that of 20 of them 1.6; four of these.
        self.assertAlmostEqual(np.mean(means), 149.5, delta=6.4)
        self.assertGreater(np.std(means), 2.0)

    def test_fraction_thins_the_sample(self):
        with mock.patch.object(vocabulary, "sampled", side_effect=vocabulary.sampled) as sampled:
            self.build(sampling_fraction=0.5)
        kept = sum(len(call.args[2]) for call in sampled.call_args_list)
        self.assertTrue(110 < kept < 190, kept)

    def test_constant_and_absent_values(self):
        np.testing.assert_array_equal(vocabulary.quantiles_of(np.array([2.5]), 3), [2.5, 2.5, 2.5])
        self.assertEqual(len(vocabulary.quantiles_of(np.empty(0), 3)), 0)
        values = np.sort(np.random.Generator(np.random.Philox(1)).normal(size=77))
        expected = np.quantile(values, np.linspace(0, 1, 1000))
        np.testing.assert_array_equal(vocabulary.quantiles_of(values, 1000), expected)

    def test_impossible_configuration_is_refused(self):
        with self.assertRaisesRegex(ValueError, "quantiles must be >= 2"):
            VocabularyConfig(quantiles=1)
        with self.assertRaisesRegex(ValueError, "sampling_fraction=0: must lie in"):
            VocabularyConfig(sampling_fraction=0)
