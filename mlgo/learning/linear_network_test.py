import unittest

import numpy as np

from mlgo.learning.linear_network import fit_weights, linear_fit, linear_network, linear_rows
from mlgo.learning.network import NetworkConfig, initial_network
from mlgo.learning.normalization import LEVEL_SCALE
from mlgo.learning.observations import pack
from mlgo.learning.testing import synthetic_environments as synthetic


class NearestPolicyTest(unittest.TestCase):
    def setUp(self):
        environment = synthetic.BinaryEnvironment()
        self.template = initial_network(environment.normalizer, 1, NetworkConfig((8,), (4,)))
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
        width = self.template.normalizer.width
        effect = np.linspace(-0.2, 0.2, width + 1)
        network = linear_network(self.template, effect)
        np.testing.assert_allclose(fit_weights(network, []), effect, atol=1e-4)
        rows = linear_rows(self.seen[0])
        fitted = linear_fit(network, self.seen)
        # Effects of levels that no row has are free; what the rows get is not.
        np.testing.assert_allclose(rows @ fitted, np.clip(rows @ effect, -3.0, 3.0), atol=0.05)

    def test_another_network_is_fitted(self):
        fitted = fit_weights(self.template, self.seen)
        self.assertEqual(fitted.shape, (self.template.normalizer.width + 1,))
        np.testing.assert_array_equal(fitted, linear_fit(self.template, self.seen))
