"""CMA-ES: the search itself, policies made of pieces, failed compiles, resuming byte for byte, a problem whose best is
known.
"""

import unittest

import gin
import numpy as np

from mlgo.learning.algorithms.cma_es.algorithm import CmaConfig
from mlgo.learning.algorithms.cma_es.learner import CmaLearner, Search, first_mean
from mlgo.learning.exact_network import exact_network
from mlgo.learning.learner import Sample
from mlgo.learning.linear_network import linear_effect, linear_network
from mlgo.learning.network import NetworkConfig, initial_network
from mlgo.learning.normalization import TOP_LEVEL
from mlgo.learning.testing import synthetic_environments as synthetic
from mlgo.learning.testing.learner_contract import check_repeatable
from mlgo.run.exit_codes import RunError

_ENVIRONMENT = synthetic.BinaryEnvironment()
_CHOICE = synthetic.CategoricalEnvironment()


def _network(environment=_ENVIRONMENT):
    return initial_network(environment.normalizer, 1, NetworkConfig((8,), (4,)))


def _learner(seed: int = 1, network=None, state=None, environment=_ENVIRONMENT, **settings) -> CmaLearner:
    config = CmaConfig(**{"population": 8, **settings})
    return CmaLearner(network or _network(environment), environment.problem, seed, config, state)


class SearchTest(unittest.TestCase):
    def test_an_ill_conditioned_ellipsoid_is_solved(self):
        """f(x) = sum of 10^(4 i / (n - 1)) x_i^2, Hansen's standard test; plain steps of one size would take thousands
        of generations.
        """
        random = np.random.default_rng(3)
        scale = 10.0 ** (4 * np.arange(8) / 7)
        search = Search.around(np.full(8, 2.0), 0.5)
        for _ in range(300):
            steps = random.standard_normal((10, 8)) @ search.roots()[0]
            search = search.updated(steps, -(scale * np.square(search.mean + search.sigma * steps)).sum(axis=1))
        self.assertLess((scale * np.square(search.mean)).sum(), 1e-8)
        np.testing.assert_array_equal(search.covariance, search.covariance.T)

    def test_the_roots_are_what_they_are_called(self):
        covariance = np.array([[4.0, 1.0], [1.0, 2.0]])
        zeros = np.zeros(2)
        root, inverse = Search(zeros, 1.0, covariance, zeros, zeros).roots()
        np.testing.assert_allclose(root @ root, covariance)
        np.testing.assert_allclose(root @ inverse, np.eye(2), atol=1e-12)


class CmaLearnerTest(unittest.TestCase):
    def test_a_linear_network_is_recognised_and_others_are_not(self):
        effect = np.linspace(-1, 1, _ENVIRONMENT.normalizer.width + 1)
        np.testing.assert_allclose(linear_effect(linear_network(_network(), effect)), effect, atol=1e-5)
        self.assertIsNone(linear_effect(_network()))
        nine_units = initial_network(_ENVIRONMENT.normalizer, 1, NetworkConfig((9,), (4,)))
        self.assertIsNone(linear_effect(nine_units))

    def test_the_first_mean_is_what_the_configuration_says(self):
        config = CmaConfig(start={"gain": 0.25}, start_bias=-0.5)
        mean = first_mean(_network(), config)
        columns = _ENVIRONMENT.normalizer.columns
        self.assertEqual(mean.tolist(), [0.25 * (column.feature == "gain") for column in columns] + [-0.5])
        shipped = exact_network(_learner(start={"gain": 0.25}, start_bias=-0.5).network.weights)
        levels = np.array([[0] * len(columns), [TOP_LEVEL] * len(columns)], np.uint8)
        np.testing.assert_allclose(shipped.row_logits(levels), [-0.5, 0.5], atol=0.02)
        with self.assertRaisesRegex(RunError, "names gains, and the policy looks at gain"):
            first_mean(_network(), CmaConfig(start={"gains": 1.0}))

    def test_large_numbers_are_scaled_and_decide_the_same(self):
        columns = len(_ENVIRONMENT.normalizer.columns)
        large = exact_network(_learner(start={"gain": 40.0}, start_bias=-60.0).network.weights)
        levels = np.zeros((TOP_LEVEL + 1, columns), np.uint8)
        levels[:, 0], levels[:, 1] = TOP_LEVEL, np.arange(TOP_LEVEL + 1)
        np.testing.assert_array_equal(large.row_logits(levels) > 0, np.arange(TOP_LEVEL + 1) > TOP_LEVEL / 2)

    def test_a_run_from_a_linear_policy_starts_there(self):
        trained = _learner(start={"gain": 1.0})
        synthetic.train(_ENVIRONMENT, trained, 2, 2)
        again = _learner(network=trained.network)
        np.testing.assert_allclose(first_mean(trained.network, CmaConfig()), trained.state()["mean"], atol=1e-5)
        for name, weights in trained.network.weights.items():
            np.testing.assert_allclose(again.network.weights[name], weights, atol=1e-5)

    def test_only_modules_that_every_candidate_compiled_count(self):
        learner = _learner()
        samples = [Sample("a", index, float(index == 3), 1.0) for index in range(8)]
        samples += [Sample("b", index, float(index == 5), 99.0) for index in range(7)]
        better = learner.variants(0)[3].network
        before = first_mean(learner.network, learner.config)
        metrics = learner.update(0, samples)
        moved = learner.state()["mean"] - before
        self.assertGreater(moved @ (first_mean(better, learner.config) - before), 0)
        self.assertEqual((metrics["modules"], metrics["modules_left_out"]), (1, 1))

    def test_equal_seeds_give_equal_bytes_and_resuming_equals_not_stopping(self):
        check_repeatable(self, _learner, _ENVIRONMENT, 2)

    def test_continuous_decisions_are_refused(self):
        with self.assertRaisesRegex(RunError, "CmaLearner needs a finite action set"):
            _learner(environment=synthetic.ContinuousEnvironment())

    def test_gin_sets_the_configuration(self):
        with gin.unlock_config():
            gin.parse_config("CmaConfig.population = 50\nCmaConfig.start = {'gain': 2}")
        try:
            self.assertEqual((CmaConfig().population, CmaConfig().start), (50, {"gain": 2.0}))
        finally:
            gin.clear_config()
        with self.assertRaisesRegex(ValueError, "population=3 must be at least 4"):
            CmaConfig(population=3)


if __name__ == "__main__":
    unittest.main()
