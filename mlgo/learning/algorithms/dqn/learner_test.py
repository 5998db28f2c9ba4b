"""DQN: advantages of decisions are found, the memory rolls, refusals, repetition and resuming byte for byte."""

import dataclasses
import functools
import unittest

import numpy as np

from mlgo.learning.algorithms.dqn.algorithm import DqnConfig
from mlgo.learning.algorithms.dqn.learner import DqnLearner, remaining_decisions
from mlgo.learning.divergence import Divergence, DivergenceError
from mlgo.learning.exact_network import exact_network
from mlgo.learning.learner import Sample
from mlgo.learning.network import NetworkConfig, PolicyNetwork, initial_network
from mlgo.learning.testing import synthetic_environments as synthetic
from mlgo.learning.testing.learner_contract import check_repeatable
from mlgo.run import determinism
from mlgo.run.exit_codes import RunError

setUpModule = determinism.configure_tensorflow

_ENVIRONMENT = synthetic.BinaryEnvironment()


def _learner(seed: int = 1, network=None, state=None, environment=_ENVIRONMENT, **settings) -> DqnLearner:
    network = network or initial_network(environment.normalizer, 1, NetworkConfig((16, 8), (8,)))
    config = DqnConfig(**{"learning_rate": 3e-3, "replay_iterations": 2, **settings})
    return DqnLearner(network, environment.problem, seed, config, state)


class DqnTest(unittest.TestCase):
    def test_what_a_decision_is_worth_is_found(self):
        # One decision a function, worth 0.3 for yes and 0.1 for no whatever is observed: z is the difference in
        # deviations. Half of the decisions are yes, as they are drawn at a high temperature.
        learner = _learner(
            samples_per_module=1, replay_iterations=1, epochs=60, l2=0.0, temperature=100.0, final_temperature=100.0
        )
        shown = synthetic.play(_ENVIRONMENT, range(4), _ENVIRONMENT.default).observations
        shown = shown.select(np.arange(256))
        contexts = tuple(str(index) for index in range(256))
        outputs = np.arange(256).astype(np.float32) % 2
        shown = dataclasses.replace(shown, group=np.arange(256), outputs=outputs)
        credits = {name: 0.3 if outputs[int(name)] else 0.1 for name in contexts}
        for iteration in range(3):
            metrics = learner.update(iteration, [Sample("m", 0, 0.2, 1.0, shown, contexts, credits)])
        z = exact_network(learner.network.weights).row_logits(shown.levels)
        # relu6 saturates for some.
        self.assertGreater(np.mean(np.abs(z - (0.3 - 0.1) / 0.1) < 0.25), 0.8)
        self.assertGreater(metrics["explained_variance"], 0.9)

    def test_exploration_cools_down(self):
        learner = _learner(temperature=0.5, final_temperature=0.2, temperature_decay=0.5)
        self.assertEqual([learner.temperature(iteration) for iteration in range(3)], [0.5, 0.25, 0.2])
        explored, logits = learner.variants(1)[0].network, "policy/logits/kernel"
        assert isinstance(explored, PolicyNetwork)
        np.testing.assert_allclose(explored.weights[logits] / 4, learner.network.weights[logits], rtol=1e-6)

    def test_the_memory_holds_the_last_iterations(self):
        learner = _learner()
        metrics = synthetic.train(_ENVIRONMENT, learner, 4, 2)
        each = metrics[0]["decisions"]
        self.assertEqual([m["replayed_decisions"] / each for m in metrics], [1, 2, 2, 2])
        # Fresh logits are near 0: nearly as much as there can be between yes and no.
        self.assertTrue(0.6 < metrics[0]["entropy"] <= np.log(2) + 1e-6)
        held = {name.split("/")[1] for name in learner.state() if name.startswith("replay/")}
        self.assertEqual(held, {"0", "1"})

    def test_remaining_decisions(self):
        np.testing.assert_array_equal(remaining_decisions(np.array([3, 1, 3, 3, 1, 7])), [2, 1, 1, 0, 0, 0])
        self.assertEqual(len(remaining_decisions(np.array([], np.int64))), 0)

    def test_resuming_equals_not_stopping_and_seeds_matter(self):
        for environment in (_ENVIRONMENT, synthetic.CategoricalEnvironment()):
            check_repeatable(self, functools.partial(_learner, environment=environment), environment, 3)

    def test_continuous_decisions_are_refused(self):
        with self.assertRaisesRegex(RunError, "DqnLearner needs a finite action set"):
            _learner(environment=synthetic.ContinuousEnvironment())

    def test_divergence_is_an_error(self):
        learner = _learner(learning_rate=1e3, gradient_clipping=None)
        with self.assertRaisesRegex(DivergenceError, "smaller DqnConfig.learning_rate") as caught:
            synthetic.train(_ENVIRONMENT, learner, 3, 4)
        self.assertIn(caught.exception.kind, (Divergence.EXPLODED, Divergence.NOT_FINITE))
