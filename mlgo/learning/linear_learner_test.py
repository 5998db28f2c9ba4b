"""The regression of linear policies: known effects, outliers, the memory of earlier iterations, the nearest policy."""

import types
import unittest

import numpy as np

from mlgo.learning.linear_learner import LinearLearner, linear_fit, linear_rows, nearest_effect
from mlgo.learning.linear_network import linear_network
from mlgo.learning.network import NetworkConfig, initial_network
from mlgo.learning.normalization import LEVEL_SCALE
from mlgo.learning.observations import pack
from mlgo.learning.testing import synthetic_environments as synthetic

_EFFECT = np.array([2.0, -1.0, 0.5])


def _learner(decay: float = 1.0, outlier: float = 3.0):
    """What `_regress` needs of a learner: its settings and its memory."""
    return types.SimpleNamespace(
        config=types.SimpleNamespace(decay=decay, effect_deviation=10.0, outlier=outlier),
        _information=np.zeros((3, 3)),
        _moment=np.zeros(3),
    )


def _equations(count: int, seed: int, noise: float = 0.1):
    random = np.random.Generator(np.random.Philox(seed))
    x = np.column_stack([random.normal(size=(count, 2)), np.ones(count)])
    return x, x @ _EFFECT + random.normal(0, noise, count)


class RegressionTest(unittest.TestCase):
    def regressed(self, learner, x, y):
        return LinearLearner._regress(learner, x, y, np.ones(len(y)), 0.01)

    def test_a_known_effect_is_found_and_explains_nearly_all(self):
        effect, explained = self.regressed(_learner(), *_equations(500, 1))
        np.testing.assert_allclose(effect, _EFFECT, atol=0.02)
        self.assertGreater(explained, 0.99)

    def test_outliers_move_it_little(self):
        x, y = _equations(500, 2)
        y[:10] += 1000.0
        robust, _ = self.regressed(_learner(outlier=1.0), x, y)
        plain, _ = self.regressed(_learner(outlier=1e9), x, y)
        self.assertLess(np.abs(robust - _EFFECT).max(), 0.5)
        self.assertGreater(np.abs(plain - _EFFECT).max(), 5.0)

    def test_earlier_iterations_count_by_the_decay(self):
        first, second = _equations(50, 3), _equations(50, 4)
        whole, _ = self.regressed(_learner(outlier=1e9), *(np.concatenate(parts) for parts in zip(first, second)))
        for decay, same in ((1.0, whole), (0.0, self.regressed(_learner(outlier=1e9), *second)[0])):
            learner = _learner(decay, outlier=1e9)
            self.regressed(learner, *first)
            np.testing.assert_allclose(self.regressed(learner, *second)[0], same, rtol=1e-9)


class NearestPolicyTest(unittest.TestCase):
    def setUp(self):
        environment = synthetic.BinaryEnvironment()
        self.like = initial_network(environment.normalizer, 1, NetworkConfig((8,), (4,)))
        random = np.random.Generator(np.random.Philox(5))
        names = [spec.name for spec in environment.problem.observation_specs]
        values = {name: random.uniform(-1.0, 1.0, (300, 1)) for name in names}
        zeros = np.zeros(300, np.int64)
        self.seen = [pack(values, zeros, environment.normalizer, environment.problem, zeros)]

    def test_rows_are_scaled_levels_and_one(self):
        rows = linear_rows(self.seen[0])
        np.testing.assert_array_equal(rows[:, :-1], self.seen[0].levels * LEVEL_SCALE)
        self.assertTrue((rows[:, -1] == 1.0).all())

    def test_the_nearest_policy_to_a_linear_one_is_itself(self):
        width = self.like.normalizer.width
        effect = np.linspace(-0.2, 0.2, width + 1)
        network = linear_network(self.like, effect)
        np.testing.assert_allclose(nearest_effect(network, []), effect, atol=1e-4)
        rows = linear_rows(self.seen[0])
        fitted = linear_fit(network, self.seen)
        # Effects of levels that no row has are free; what the rows get is not.
        np.testing.assert_allclose(rows @ fitted, np.clip(rows @ effect, -3.0, 3.0), atol=0.05)

    def test_another_network_is_fitted(self):
        fitted = nearest_effect(self.like, self.seen)
        self.assertEqual(fitted.shape, (self.like.normalizer.width + 1,))
        np.testing.assert_array_equal(fitted, linear_fit(self.like, self.seen))


if __name__ == "__main__":
    unittest.main()
