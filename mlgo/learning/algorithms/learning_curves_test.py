"""Every algorithm finds what is known to be best: 95 % of the best policy's improvement over the default, on functions
it never saw, in a made-up problem of each kind of decision it can learn, with fixed seeds.
"""

import unittest
from collections.abc import Sequence
from typing import Any

from mlgo.learning.algorithms.bc_max.algorithm import BcMaxConfig
from mlgo.learning.algorithms.bc_max.learner import BcMaxLearner
from mlgo.learning.algorithms.dqn.algorithm import DqnConfig
from mlgo.learning.algorithms.dqn.learner import DqnLearner
from mlgo.learning.algorithms.es.algorithm import EsConfig
from mlgo.learning.algorithms.es.learner import EsLearner
from mlgo.learning.algorithms.ppo.algorithm import PpoConfig
from mlgo.learning.algorithms.ppo.learner import PpoLearner
from mlgo.learning.behavioural_cloning import train_bc
from mlgo.learning.cloning_config import BcConfig
from mlgo.learning.divergence import DivergenceRules, judge
from mlgo.learning.learner import Learner
from mlgo.learning.network import NetworkConfig, PolicyNetwork, initial_network
from mlgo.learning.testing import synthetic_environments as synthetic
from mlgo.run import determinism

setUpModule = determinism.configure_tensorflow

_CONTINUOUS = synthetic.ContinuousEnvironment()
_FINITE: tuple[synthetic.Environment, ...] = (synthetic.CategoricalEnvironment(), synthetic.BinaryEnvironment())
_ENVIRONMENTS = (*_FINITE, _CONTINUOUS)


def _fresh(environment: synthetic.Environment) -> PolicyNetwork:
    return initial_network(environment.normalizer, 1, NetworkConfig((32, 16), (16,)))


class LearningCurvesTest(unittest.TestCase):
    def _assert_found(self, environment: synthetic.Environment, network: PolicyNetwork) -> None:
        self.assertGreaterEqual(synthetic.share_of_optimum(environment, network), 0.95, type(environment).__name__)

    def test_the_default_and_the_best_are_what_shares_are_counted_from(self):
        for environment in _ENVIRONMENTS:
            self.assertEqual(synthetic.improvement(environment, environment.default, synthetic.HELD_OUT), 0)
            self.assertGreater(synthetic.improvement(environment, environment.best, synthetic.HELD_OUT), 0.08)
            self.assertLess(synthetic.share_of_optimum(environment, _fresh(environment)), 0.4)

    def test_behavioural_cloning_of_the_best(self):
        for environment in _ENVIRONMENTS:
            shown = synthetic.play(environment, range(100), environment.best).observations
            config = BcConfig(epochs=20, learning_rate=5e-3, final_learning_rate=1e-4)
            self._assert_found(environment, train_bc(_fresh(environment), shown, 1, config).network)

    def _assert_finds(self, algorithm: type[Learner], config: Any, iterations: Sequence[int], modules: int = 8) -> None:
        """Args: iterations: for each environment."""
        for environment, count in zip(_ENVIRONMENTS, iterations):
            learner = algorithm(_fresh(environment), environment.problem, 1, config)
            synthetic.train(environment, learner, count, modules)
            self._assert_found(environment, learner.network)

    def test_ppo(self):
        self._assert_finds(PpoLearner, PpoConfig(learning_rate=5e-3, highest_kl=0.1), (10, 30))

    def test_ppo_of_numbers_from_a_clone_of_the_default(self):
        environment = _CONTINUOUS
        shown = synthetic.play(environment, range(50), environment.default).observations
        clone = train_bc(_fresh(environment), shown, 1, BcConfig(epochs=20, learning_rate=5e-3)).network
        self.assertLess(synthetic.share_of_optimum(environment, clone), 0.2)
        config = PpoConfig(learning_rate=1e-2, highest_kl=0.1, deviation=0.5)
        learner = PpoLearner(clone, environment.problem, 1, config)
        metrics = synthetic.train(environment, learner, 25, 8)
        self._assert_found(environment, learner.network)
        # Noise that is given has no entropy to collapse.
        self.assertNotIn("entropy", metrics[-1])
        self.assertIsNone(judge(metrics, DivergenceRules()))

    def test_dqn(self):
        self._assert_finds(DqnLearner, DqnConfig(learning_rate=3e-3, temperature=0.3), (8, 8))

    def test_bc_max(self):
        config = BcMaxConfig(learning_rate=3e-3, granularity="context", exploring_samples=8)
        self._assert_finds(BcMaxLearner, config, (8, 15))

    def test_evolution_strategies(self):
        for environment, generations in zip(_ENVIRONMENTS, (20, 80, 30)):
            small = initial_network(environment.normalizer, 1, NetworkConfig((16, 8), (4,)))
            learner = EsLearner(small, environment.problem, 1, EsConfig(learning_rate=0.05))
            synthetic.train(environment, learner, generations, 4)
            self._assert_found(environment, learner.network)
