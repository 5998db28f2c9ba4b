"""The size estimator: a known rule is found on modules held back, sums are right, equal bytes, refusals."""

import dataclasses
import unittest

import numpy as np

from mlgo.learning import determinism
from mlgo.learning.checkpoint import decode_arrays, digest_of, encode_arrays
from mlgo.learning.function_properties import FunctionProperties
from mlgo.learning.size_estimator import (
    INSTRUCTIONS,
    Functions,
    SizeEstimator,
    SizeEstimatorConfig,
    estimation_error,
    joined,
    train_size_estimator,
)
from mlgo.run.exit_codes import RunError

_NAMES = (INSTRUCTIONS, "DirectCallCount", "LoadInstCount", "Constant")


def _functions(count: int = 1500, modules: int = 30, seed: int = 1) -> Functions:
    """Sizes by a rule, 4 bytes an instruction, 7 more a call, 2 less a load, with noise of 10 %."""
    random = np.random.default_rng(seed)
    instructions = np.floor(np.exp(random.normal(3.5, 1.2, count))) + 1
    calls, loads = np.floor(instructions * random.random(count) * 0.3), np.floor(instructions * random.random(count) * 0.4)
    code_bytes = (4 * instructions + 7 * calls - 2 * loads + 6) * random.normal(1, 0.1, count).clip(0.5, 1.5)
    values = np.stack([instructions, calls, loads, np.full(count, 3.0)], axis=1)
    properties = FunctionProperties(tuple(f"f{index}" for index in range(count)), _NAMES, values)
    return Functions(properties, code_bytes, tuple(f"m{index % modules}" for index in range(count)))


class SizeEstimatorTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.functions = _functions()
        cls.estimator, cls.error, cls.baseline = train_size_estimator(cls.functions, 1)

    def test_a_rule_is_found(self):
        self.assertLess(self.error.mean, 0.13)
        self.assertLess(self.error.module_mean, 0.06)
        self.assertLess(abs(self.error.total), 0.05)
        self.assertLess(self.error.mean, 0.7 * self.baseline.mean)
        self.assertTrue(3 <= self.error.modules <= 10)

    def test_sums_over_modules(self):
        one = self.functions.properties.select([3, 5])
        self.assertAlmostEqual(self.estimator.module_bytes(one), float(self.estimator.estimate(one).sum()))
        np.testing.assert_allclose(
            self.estimator.estimate(self.functions.properties)[[3, 5]], self.estimator.estimate(one), rtol=1e-12
        )
        self.assertEqual(self.estimator.module_bytes(FunctionProperties((), (), np.zeros((0, 0)))), 0)

    def test_the_order_of_properties_does_not_matter_and_constants_are_not_read(self):
        self.assertNotIn("Constant", self.estimator.names)
        turned = FunctionProperties(self.functions.properties.functions, _NAMES[::-1], self.functions.properties.values[:, ::-1])
        expected = self.estimator.estimate(self.functions.properties)
        np.testing.assert_allclose(self.estimator.estimate(turned), expected, rtol=1e-12)
        lacking = FunctionProperties(("f",), ("Uses",), np.ones((1, 1)))
        with self.assertRaisesRegex(RunError, "reads TotalInstructionCount, which these function properties lack"):
            self.estimator.estimate(lacking)

    def test_it_survives_a_checkpoint_and_equal_seeds_give_equal_bytes(self):
        again = SizeEstimator.from_arrays(decode_arrays(encode_arrays(self.estimator.arrays()), "x"))
        np.testing.assert_array_equal(
            again.estimate(self.functions.properties), self.estimator.estimate(self.functions.properties)
        )
        config = SizeEstimatorConfig(epochs=2)
        digests = [digest_of(train_size_estimator(self.functions, seed, config)[0].arrays()) for seed in (1, 1, 2)]
        self.assertEqual(digests[0], digests[1])
        self.assertNotEqual(digests[0], digests[2])

    def test_errors_are_what_they_say(self):
        functions = self.functions.select(np.array([0, 30, 1]))  # Two of module m0, one of m1.
        error = estimation_error(functions.code_bytes * np.array([1.5, 0.5, 1.0]), functions)
        self.assertEqual((error.functions, error.modules), (3, 2))
        np.testing.assert_allclose((error.median, error.mean), (0.5, 1 / 3))
        sizes = functions.code_bytes
        of_module = abs((1.5 * sizes[0] + 0.5 * sizes[1]) / (sizes[0] + sizes[1]) - 1)
        self.assertAlmostEqual(error.module_mean, of_module / 2)

    def test_refusals(self):
        with self.assertRaisesRegex(RunError, "functions of 1 modules: are too few"):
            train_size_estimator(_functions(10, 1), 1)
        with self.assertRaisesRegex(ValueError, "do not fit"):
            dataclasses.replace(self.functions, code_bytes=np.zeros(1500))
        other = dataclasses.replace(self.functions.properties, names=_NAMES[::-1])
        with self.assertRaisesRegex(ValueError, "cannot be joined"):
            joined([self.functions, dataclasses.replace(self.functions, properties=other)])
        self.assertEqual(len(joined([self.functions, self.functions]).modules), 3000)


if __name__ == "__main__":
    determinism.configure_tensorflow()
    unittest.main()
