"""PPO: equals tf-agents' own update, repeats and resumes byte for byte, says divergence."""

import dataclasses
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from tf_agents.trajectories import trajectory

from mlgo.learning.algorithms.ppo.agent import clip_agent
from mlgo.learning.algorithms.ppo.algorithm import PpoConfig
from mlgo.learning.algorithms.ppo.learner import PpoLearner
from mlgo.learning.checkpoint import digest_of
from mlgo.learning.divergence import DivergenceError
from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import NetworkConfig, PolicyNetwork, initial_network, values
from mlgo.learning.observations import Observations, pack
from mlgo.learning.returns import returns_of
from mlgo.learning.testing import synthetic, synthetic_environments
from mlgo.learning.testing.learner_contract import check_repeatable
from mlgo.run import determinism

setUpModule = determinism.configure_tensorflow

Batch = tuple[Observations, np.ndarray]


def _batch(network: PolicyNetwork, seed: int, functions: int = 64, decisions: int = 16) -> Batch:
    """Functions of some decisions each, drawn from the policy; a function's return is its mean saving of cost over a
    random choice.
    """
    random = np.random.default_rng(seed)
    values = synthetic.features(random, functions * decisions)
    packed = pack(values, synthetic.best(values), network.normalizer, synthetic.PROBLEM)
    logits = exact_network(network.weights).row_logits(packed.levels)
    noisy = logits + random.gumbel(size=len(logits))
    best = np.maximum.reduceat(noisy, packed.offsets[:-1])
    chosen = np.flatnonzero(noisy == np.repeat(best, np.diff(packed.offsets)))
    packed = dataclasses.replace(packed, chosen=chosen)
    paid = values["cost"][np.arange(len(packed)), 0, packed.actions].reshape(functions, decisions)
    legal = values["legal"][:, 0] > 0
    average = ((values["cost"][:, 0] * legal).sum(1) / legal.sum(1)).reshape(functions, decisions)
    return packed, np.repeat((average - paid).mean(axis=1), decisions).astype(np.float32)


def _learner(
    seed: int = 1, config: PpoConfig | None = None, network: PolicyNetwork | None = None, state=None
) -> PpoLearner:
    network = network or initial_network(synthetic.normalizer(), seed, NetworkConfig((32, 16), (16,)))
    config = config or PpoConfig(minibatch=512, epochs=3, learning_rate=3e-3)
    return PpoLearner(network, synthetic.PROBLEM, seed, config, state)


_BINARY = synthetic_environments.BinaryEnvironment()
_BINARY_NETWORK = initial_network(_BINARY.normalizer, 1, NetworkConfig((32, 16), (16,)))
_ONE_STEP = PpoConfig(minibatch=10**6, epochs=1, learning_rate=1e-3, l2=0.0, gradient_clipping=None)


class PpoTest(unittest.TestCase):
    def assert_equals_tf_agents(self, before: PolicyNetwork, after: PolicyNetwork, batch: Batch) -> None:
        reference = _tf_agents_update(before, batch, _ONE_STEP)
        for name, value in after.weights.items():
            np.testing.assert_allclose(value, reference[name], atol=2e-6, err_msg=name)
            self.assertTrue(name.startswith("value/0") or not np.array_equal(value, before.weights[name]), name)

    def test_one_update_equals_tf_agents_train(self):
        learner = _learner(config=_ONE_STEP)
        network = learner.network
        batch = _batch(network, 3)
        learner.learn(*batch)
        self.assert_equals_tf_agents(network, learner.network, batch)

    def test_moving_averages_are_part_of_the_state(self):
        config = PpoConfig(samples_per_module=1, baseline="moving_average")

        def make(seed=1, network=_BINARY_NETWORK, state=None):
            return PpoLearner(network, _BINARY.problem, seed, config, state)

        # Modules that it has seen already: their averages decide.
        learner = check_repeatable(self, make, _BINARY, 2, range(4))
        self.assertEqual(len(learner.state()["baseline/names"]), 4 * synthetic_environments.FUNCTIONS)

    def test_an_update_of_yes_and_no_equals_tf_agents_train(self):
        learner = PpoLearner(_BINARY_NETWORK, _BINARY.problem, 1, _ONE_STEP)
        samples = synthetic_environments.samples_of(_BINARY, range(10), learner.variants(0), 1)
        batch = returns_of(samples, leave_one_out=True)
        metrics = learner.update(0, samples)
        self.assertEqual(metrics["decisions"], len(batch[0]))
        self.assertAlmostEqual(metrics["kl"], 0, places=3)
        self.assert_equals_tf_agents(_BINARY_NETWORK, learner.network, batch)

    def test_a_temperature_is_part_of_the_policy_that_is_improved(self):
        config, logits = PpoConfig(temperature=0.25, epochs=1, minibatch=10**6), "policy/logits/kernel"
        learner = PpoLearner(_BINARY_NETWORK, _BINARY.problem, 1, config)
        variants = learner.variants(0)
        explored = variants[0].network
        assert isinstance(explored, PolicyNetwork)
        np.testing.assert_array_equal(explored.weights[logits], 4 * _BINARY_NETWORK.weights[logits])
        samples = synthetic_environments.samples_of(_BINARY, range(4), variants, 1)
        # Were it not the same policy on both sides, ratios would be far from 1 before the first step.
        self.assertLess(learner.update(0, samples)["clip_fraction"], 0.01)

    def test_resuming_equals_not_stopping_and_seeds_matter(self):
        environment = synthetic_environments.CategoricalEnvironment()
        network = _learner().network
        check_repeatable(self, lambda seed=1, **of: _learner(seed, **{"network": network, **of}), environment, 2)

    def test_divergence_is_an_error(self):
        learner = _learner()
        observations, returns = _batch(learner.network, 0)
        with self.assertRaisesRegex(DivergenceError, "returns hold NaN"):
            learner.learn(observations, returns * np.float32(np.nan))
        config = PpoConfig(minibatch=256, epochs=3, learning_rate=1e3, gradient_clipping=None, highest_kl=1e30)
        with self.assertRaisesRegex(DivergenceError, r"minibatch \d+ has loss .*smaller PpoConfig.learning_rate"):
            _learner(config=config).learn(observations, returns)

    def test_the_kl_limit_ends_an_update(self):
        learner = _learner(config=PpoConfig(minibatch=64, epochs=10, learning_rate=1e-2, highest_kl=0.001))
        metrics = learner.learn(*_batch(learner.network, 0))
        self.assertTrue(metrics["stopped_early"])
        self.assertLess(metrics["minibatches"], 160)

    def test_the_unit_of_returns_changes_nothing(self):
        observations, returns = _batch(_learner().network, 0)
        digests = set()
        for unit in (1.0, 2.0**-10, 2.0**20):
            learner = _learner()
            metrics = learner.learn(observations, returns * np.float32(unit))
            self.assertAlmostEqual(metrics["return_deviation"] / unit, float(returns.std()), places=5)
            digests.add(digest_of(learner.network.weights))
        self.assertEqual(len(digests), 1)

    def test_functions_that_shrink_by_a_kilobyte_are_no_divergence(self):
        # In units of 16 bytes, and all of their decisions in one of the two minibatches.
        observations, _ = _batch(_learner().network, 0)
        returns = np.where(np.arange(1024) < 512, 64, -0.01).astype(np.float32)
        config = PpoConfig(minibatch=512, epochs=1)
        with mock.patch("mlgo.learning.algorithms.ppo.learner.minibatches", lambda *_: np.arange(1024).reshape(2, 512)):
            metrics = _learner(config=config).learn(observations, returns)
        self.assertLess(metrics["loss"], 10)


def _tf_agents_update(network: PolicyNetwork, batch: Batch, config: PpoConfig) -> dict[str, np.ndarray]:
    """Weights after PPOClipAgent.train on the same decisions, as dense one-step episodes."""
    observations, returns = batch
    count, positions = len(observations), observations.position_count
    levels = np.zeros((count, positions, network.normalizer.width), np.int32)
    legal = np.zeros((count, positions), np.int32)
    rows = observations.row_observation(), observations.positions
    levels[rows], legal[rows] = observations.levels, 1
    # The agent recomputes probabilities from logits; these are the exact network's, as in our update.
    logits = np.full((count, positions), -1e30, np.float32)
    logits[rows] = exact_network(network.weights).row_logits(observations.levels)
    binary = observations.kind == "binary"
    if binary:
        logits = np.concatenate([np.zeros_like(logits), logits], axis=1)
    variables = {name: tf.Variable(value) for name, value in network.weights.items()}
    optimizer = tf.compat.v1.train.AdamOptimizer(config.learning_rate, epsilon=config.adam_epsilon)
    agent = clip_agent(variables, positions, config, binary, optimizer)
    agent.initialize()
    value = values(variables, tf.constant(observations.summaries())).numpy()
    returns = (returns / np.sqrt(np.mean(np.square(returns, dtype=np.float64)))).astype(np.float32)

    def steps(array: np.ndarray) -> tf.Tensor:
        return tf.constant(array[:, None])  # [B, T=1]

    experience = trajectory.Trajectory(
        step_type=steps(np.zeros(count, np.int32)),
        observation={"legal": steps(legal), "levels": steps(levels), "summary": steps(observations.summaries())},
        action=steps(observations.actions),
        policy_info={
            "dist_params": {"logits": steps(logits)},
            "value_prediction": steps(value),
            "return": steps(returns),
            "advantage": steps(returns - value),
        },
        next_step_type=steps(np.full(count, 1, np.int32)),
        reward=steps(returns),
        discount=steps(np.ones(count, np.float32)),
    )
    agent.train(experience)
    return {name: variable.numpy() for name, variable in variables.items()}
