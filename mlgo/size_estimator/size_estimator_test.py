"""Parsing what opt prints, and learning a known relation between counts and bytes."""

import pathlib
import unittest

import numpy as np

from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase
from mlgo.size_estimator.estimator import EstimatorConfig, SizeEstimator, accuracy, fit, instructions_alone
from mlgo.size_estimator.examples import Examples, examples_of
from mlgo.size_estimator.properties import parse_properties, properties_of

_PRINTED = """Printing analysis results of CFA for function 'f':
BasicBlockCount: 6
TotalInstructionCount: 99

Printing analysis results of CFA for function 'it's':
BasicBlockCount: 1
TotalInstructionCount: 2

"""


def synthetic(count: int, seed: int) -> Examples:
    """Functions of 4 bytes per instruction, 9 per call, and 3 in all more for each doubling of blocks."""
    random = np.random.default_rng(seed)
    instructions = np.exp(random.uniform(1, 7, count)).round()
    calls, blocks = (instructions * random.uniform(0, 0.3, count)).round(), 1 + (instructions / 7).round()
    code = 4 * instructions + 9 * calls + 3 * np.log2(blocks) + 5
    names = tuple(f"f{seed}_{index}" for index in range(count))
    modules = tuple(f"m{index % 7}" for index in range(count))
    features = np.stack([blocks, calls, instructions], axis=1)
    return Examples(modules, names, features, ("BasicBlockCount", "DirectCallCount", "TotalInstructionCount"), code)


class PropertiesTest(unittest.TestCase):
    def test_what_opt_prints(self):
        found = parse_properties(_PRINTED)
        self.assertEqual(found["f"], {"BasicBlockCount": 6, "TotalInstructionCount": 99})
        self.assertEqual(list(found), ["f", "it's"])

    def test_other_text(self):
        with self.assertRaisesRegex(RunError, "line 1: 'opt: unknown' is no property. Use opt"):
            parse_properties("opt: unknown\n")
        with self.assertRaisesRegex(RunError, "line 1: 'A: 1' is no property"):
            parse_properties("A: 1\n")

    def test_no_opt(self):
        with self.assertRaisesRegex(RunError, "opt /nowhere/opt: does not work"):
            properties_of(pathlib.Path("m.bc"), pathlib.Path("/nowhere/opt"))


class ExamplesTest(unittest.TestCase):
    def test_functions_without_code_are_left_out(self):
        properties = {"a": {"X": 1, "Y": 2}, "b": {"X": 3, "Y": 4}, "inlined": {"X": 5, "Y": 6}}
        examples = examples_of({"m": (properties, {"a": 10, "b": 0, "other": 7})})
        self.assertEqual((examples.functions, examples.names), (("a",), ("X", "Y")))
        np.testing.assert_array_equal(examples.features, [[1, 2]])
        np.testing.assert_array_equal(examples.code_bytes, [10])

    def test_functions_that_both_have_are_not_held_out(self):
        one, other = synthetic(3, 1), synthetic(3, 2)
        other = Examples(other.modules, ("f1_0", "x", "y"), other.features, other.names, other.code_bytes)
        self.assertEqual(other.without_names_of(one).functions, ("x", "y"))


class EstimatorTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.training, self.held_out = synthetic(600, 1), synthetic(300, 2)

    def test_a_known_relation_is_learnt(self):
        estimator = fit(self.training, EstimatorConfig(), seed=1)
        found = accuracy(self.held_out, estimator.estimate(self.held_out.features))
        alone = accuracy(self.held_out, instructions_alone(self.training, self.held_out))
        self.assertLess(found.mean, 3.0)
        self.assertLess(found.mean, alone.mean / 3)
        self.assertEqual((found.functions, found.modules), (300, 7))

    def test_larger_functions_than_any_seen_are_not_absurd(self):
        estimator = fit(self.training, EstimatorConfig(), seed=1)
        properties = {"BasicBlockCount": 14286, "DirectCallCount": 10000, "TotalInstructionCount": 100000}
        estimated = estimator.estimate_functions({"f": properties})
        self.assertAlmostEqual(estimated["f"] / (4 * 100000 + 9 * 10000), 1.0, delta=0.25)

    def test_equal_seeds_give_equal_bytes_and_a_file_keeps_all(self):
        paths = [self.folder / name for name in ("a", "b", "c")]
        for path, seed in zip(paths, (1, 1, 2)):
            fit(self.training, EstimatorConfig(steps=20), seed).save(path)
        first, second, other = (path.read_bytes() for path in paths)
        self.assertEqual(first, second)
        self.assertNotEqual(first, other)
        loaded = SizeEstimator.load(paths[0])
        estimator = fit(self.training, EstimatorConfig(steps=20), 1)
        estimated = [each.estimate(self.held_out.features) for each in (loaded, estimator)]
        np.testing.assert_array_equal(*estimated)

    def test_damaged_files_and_missing_properties(self):
        for content in ("[]", "{}", '{"names": ["a"], "weights": [1]}'):
            with self.assertRaisesRegex(RunError, "size estimator .* is damaged: .* Train it again"):
                SizeEstimator.load(self.file("e.json", content))
        estimator = fit(self.training, EstimatorConfig(steps=1), 1)
        with self.assertRaisesRegex(RunError, "lack 'BasicBlockCount'"):
            estimator.estimate_functions({"f": {}})

    def test_too_few_functions(self):
        with self.assertRaisesRegex(RunError, "has 2 functions with code for 3 features"):
            fit(synthetic(2, 1), EstimatorConfig(), 1)

    def test_accuracy_of_known_errors(self):
        examples = Examples(("m", "m", "n"), ("a", "b", "c"), np.ones((3, 1)), ("X",), np.array([10.0, 10.0, 100.0]))
        found = accuracy(examples, np.array([12.0, 8.0, 110.0]))
        self.assertAlmostEqual(found.mean, 50 / 3)
        self.assertAlmostEqual(found.median, 20.0)
        self.assertAlmostEqual(found.module_mean, 5.0)
        self.assertAlmostEqual(found.total, 100 * (130 / 120 - 1))
