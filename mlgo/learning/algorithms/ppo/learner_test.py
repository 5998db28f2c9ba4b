"""PPO: finds a known best policy, equals tf-agents' own update, repeats and resumes byte for byte, says divergence."""

import dataclasses
import pathlib
import unittest
from typing import Any
from unittest import mock

import gin
import numpy as np
import tensorflow as tf
from tf_agents.trajectories import trajectory

from mlgo.learning.algorithms.ppo.agent import clip_agent
from mlgo.learning.algorithms.ppo.algorithm import PpoConfig
from mlgo.learning.algorithms.ppo.learner import PpoLearner, TrainingBatch
from mlgo.learning.checkpoint import digest_of
from mlgo.learning.divergence import DivergenceError
from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import NetworkConfig, PolicyNetwork, initial_network, values
from mlgo.learning.observations import Observations, pack
from mlgo.learning.returns import returns_of
from mlgo.learning.testing import synthetic, synthetic_environments
from mlgo.run import determinism


def _draw(network: PolicyNetwork, random: np.random.Generator, count: int) -> tuple[Observations, dict]:
    """`count` observations decided by drawing from the policy."""
    values = synthetic.features(random, count)
    packed = pack(values, synthetic.best(values), network.normalizer, synthetic.PROBLEM)
    logits = exact_network(network.weights).row_logits(packed.levels)
    noisy = logits + random.gumbel(size=len(logits))
    best = np.maximum.reduceat(noisy, packed.offsets[:-1])
    chosen = np.flatnonzero(noisy == np.repeat(best, np.diff(packed.offsets)))
    return dataclasses.replace(packed, chosen=chosen), values


def _batch(network: PolicyNetwork, seed: int, functions: int = 64, decisions: int = 16) -> TrainingBatch:
    """Functions of some decisions each; a function's return is its mean saving of cost over a random choice."""
    packed, values = _draw(network, np.random.default_rng(seed), functions * decisions)
    paid = values["cost"][np.arange(len(packed)), 0, packed.actions].reshape(functions, decisions)
    legal = values["legal"][:, 0] > 0
    average = ((values["cost"][:, 0] * legal).sum(1) / legal.sum(1)).reshape(functions, decisions)
    return TrainingBatch(packed, np.repeat((average - paid).mean(axis=1), decisions).astype(np.float32))


def _learner(
    seed: int = 1, config: PpoConfig | None = None, network: PolicyNetwork | None = None, state=None
) -> PpoLearner:
    network = network or initial_network(synthetic.normalizer(), seed, NetworkConfig((32, 16), (16,)))
    config = config or PpoConfig(minibatch=512, epochs=3, learning_rate=3e-3)
    return PpoLearner(network, synthetic.PROBLEM, seed, config, state)


class PpoTest(unittest.TestCase):
    def test_finds_the_best_policy_of_a_bandit(self):
        learner = _learner(config=PpoConfig(minibatch=512, epochs=3, learning_rate=3e-3, highest_kl=0.1))
        for iteration in range(30):
            learner.learn(_batch(learner.network, iteration))
        packed, values = _draw(learner.network, np.random.default_rng(10**6), 2000)
        decisions = exact_network(learner.network.weights).decisions(packed)
        self.assertGreater(np.mean(decisions == synthetic.best(values)), 0.9)

    def test_one_update_equals_tf_agents_train(self):
        network = _learner().network
        config = PpoConfig(minibatch=10**6, epochs=1, learning_rate=1e-3, l2=0.0, gradient_clipping=None)
        batch = _batch(network, 3)
        learner = _learner(config=config, network=network)
        learner.learn(batch)
        reference = _tf_agents_update(network, batch, config)
        for name, value in learner.network.weights.items():
            np.testing.assert_allclose(value, reference[name], atol=2e-6, err_msg=name)
            self.assertTrue(name.startswith("value/0") or not np.array_equal(value, network.weights[name]), name)

    def test_moving_averages_are_part_of_the_state(self):
        environment = synthetic_environments.BinaryEnvironment()
        config = PpoConfig(samples_per_module=1, baseline="moving_average")
        network = initial_network(environment.normalizer, 1, NetworkConfig((8,), (4,)))
        one = PpoLearner(network, environment.problem, 1, config)
        synthetic_environments.train(environment, one, 2, 4)
        resumed = PpoLearner(one.network, environment.problem, 1, config, one.state())
        for learner in (one, resumed):
            # Modules that it has seen already: their averages decide.
            learner.update(2, synthetic_environments.samples_of(environment, range(4), learner.variants(2), 7))
        self.assertEqual(digest_of(one.network.weights), digest_of(resumed.network.weights))
        self.assertEqual(digest_of(one.state()), digest_of(resumed.state()))
        self.assertEqual(len(one.state()["baseline/names"]), 8 * synthetic_environments.FUNCTIONS)
        unknown: Any = "mean"
        with self.assertRaisesRegex(ValueError, "baseline='mean' is none of"):
            PpoConfig(baseline=unknown)

    def test_an_update_of_yes_and_no_equals_tf_agents_train(self):
        environment = synthetic_environments.BinaryEnvironment()
        network = initial_network(environment.normalizer, 1, NetworkConfig((32, 16), (16,)))
        config = PpoConfig(minibatch=10**6, epochs=1, learning_rate=1e-3, l2=0.0, gradient_clipping=None)
        learner = PpoLearner(network, environment.problem, 1, config)
        samples = synthetic_environments.samples_of(environment, range(10), learner.variants(0), 1)
        batch = TrainingBatch(*returns_of(samples, leave_one_out=True))
        metrics = learner.update(0, samples)
        self.assertEqual(metrics["decisions"], len(batch.observations))
        self.assertAlmostEqual(metrics["kl"], 0, places=3)
        reference = _tf_agents_update(network, batch, config)
        for name, value in learner.network.weights.items():
            np.testing.assert_allclose(value, reference[name], atol=2e-6, err_msg=name)
            self.assertTrue(name.startswith("value/0") or not np.array_equal(value, network.weights[name]), name)

    def test_a_temperature_is_part_of_the_policy_that_is_improved(self):
        environment = synthetic_environments.BinaryEnvironment()
        network = initial_network(environment.normalizer, 1, NetworkConfig((32, 16), (16,)))
        learner = PpoLearner(network, environment.problem, 1, PpoConfig(temperature=0.25, epochs=1, minibatch=10**6))
        variants = learner.variants(0)
        explored = variants[0].network
        assert isinstance(explored, PolicyNetwork)
        np.testing.assert_array_equal(
            explored.weights["policy/logits/kernel"], 4 * network.weights["policy/logits/kernel"]
        )
        samples = synthetic_environments.samples_of(environment, range(4), variants, 1)
        # Were it not the same policy on both sides, ratios would be far from 1 before the first step.
        self.assertLess(learner.update(0, samples)["clip_fraction"], 0.01)

    def test_equal_seeds_give_equal_bytes_and_others_do_not(self):
        digests = []
        for seed in (1, 1, 2):
            learner = _learner(network=_learner().network, seed=seed)
            for iteration in range(2):
                learner.learn(_batch(learner.network, iteration))
            digests.append(digest_of(learner.network.weights))
        self.assertEqual(digests[0], digests[1])
        self.assertNotEqual(digests[0], digests[2])

    def test_going_on_from_a_state_equals_not_stopping(self):
        learner = _learner()
        learner.learn(_batch(learner.network, 0))
        resumed = _learner(network=learner.network, state=learner.state())
        metrics = [each.learn(_batch(each.network, 1)) for each in (learner, resumed)]
        self.assertEqual(metrics[0], metrics[1])
        self.assertEqual(digest_of(learner.network.weights), digest_of(resumed.network.weights))
        self.assertEqual(digest_of(learner.state()), digest_of(resumed.state()))
        with self.assertRaisesRegex(ValueError, "optimiser state has"):
            _learner(state={"step": np.int64(1), "m/other": np.zeros(1)})

    def test_divergence_is_an_error(self):
        learner = _learner()
        good = _batch(learner.network, 0)
        with self.assertRaisesRegex(DivergenceError, "returns hold NaN"):
            learner.learn(TrainingBatch(good.observations, good.returns * np.float32(np.nan)))
        wild = _learner(
            config=PpoConfig(minibatch=256, epochs=3, learning_rate=1e3, gradient_clipping=None, highest_kl=1e30)
        )
        with self.assertRaisesRegex(DivergenceError, r"minibatch \d+ has loss .*smaller PpoConfig.learning_rate"):
            wild.learn(good)

    def test_the_kl_limit_ends_an_update(self):
        learner = _learner(config=PpoConfig(minibatch=64, epochs=10, learning_rate=1e-2, highest_kl=0.001))
        metrics = learner.learn(_batch(learner.network, 0))
        self.assertTrue(metrics["stopped_early"])
        self.assertLess(metrics["minibatches"], 160)

    def test_the_unit_of_returns_changes_nothing(self):
        batch = _batch(_learner().network, 0)
        digests = set()
        for unit in (1.0, 2.0**-10, 2.0**20):
            learner = _learner()
            metrics = learner.learn(TrainingBatch(batch.observations, batch.returns * np.float32(unit)))
            self.assertAlmostEqual(metrics["return_deviation"] / unit, float(batch.returns.std()), places=5)
            digests.add(digest_of(learner.network.weights))
        self.assertEqual(len(digests), 1)

    def test_functions_that_shrink_by_a_kilobyte_are_no_divergence(self):
        # In units of 16 bytes, and all of their decisions in one of the two minibatches.
        batch = _batch(_learner().network, 0)
        returns = np.where(np.arange(len(batch.returns)) < 512, 64, -0.01).astype(np.float32)
        config = PpoConfig(minibatch=512, epochs=1)
        with mock.patch("mlgo.learning.algorithms.ppo.learner.minibatches", lambda *_: np.arange(1024).reshape(2, 512)):
            metrics = _learner(config=config).learn(TrainingBatch(batch.observations, returns))
        self.assertLess(metrics["loss"], 10)

    def test_gin_sets_the_configuration(self):
        with gin.unlock_config():
            gin.parse_config("PpoConfig.epochs = 7\nPpoConfig.clip = 0.1")
        try:
            self.assertEqual((PpoConfig().epochs, PpoConfig().clip, PpoConfig().entropy), (7, 0.1, 0.001))
        finally:
            gin.clear_config()
        with gin.unlock_config():
            gin.parse_config_file(str(pathlib.Path(__file__).with_name("papers_eviction.gin")))
        try:
            self.assertEqual((PpoConfig().minibatch, PpoConfig().learning_rate), (4096, 3e-4))
        finally:
            gin.clear_config()
        with self.assertRaisesRegex(ValueError, "PpoConfig.clip=-1"):
            PpoConfig(clip=-1)


def _tf_agents_update(network: PolicyNetwork, batch: TrainingBatch, config: PpoConfig) -> dict[str, np.ndarray]:
    """Weights after PPOClipAgent.train on the same decisions, as dense one-step episodes."""
    observations, count, positions = batch.observations, len(batch.observations), batch.observations.position_count
    levels = np.zeros((count, positions, network.normalizer.width), np.int32)
    legal = np.zeros((count, positions), np.int32)
    levels[observations.row_observation(), observations.positions] = observations.levels
    legal[observations.row_observation(), observations.positions] = 1
    # The agent recomputes probabilities from logits; these are the exact network's, as in our update.
    logits = np.full((count, positions), -1e30, np.float32)
    logits[observations.row_observation(), observations.positions] = exact_network(network.weights).row_logits(
        observations.levels
    )
    binary = observations.kind == "binary"
    if binary:
        logits = np.concatenate([np.zeros_like(logits), logits], axis=1)
    variables = {name: tf.Variable(value) for name, value in network.weights.items()}
    agent = clip_agent(
        variables,
        positions,
        binary=binary,
        clip=config.clip,
        entropy=config.entropy,
        value_loss=config.value_loss,
        optimizer=tf.compat.v1.train.AdamOptimizer(config.learning_rate, epsilon=config.adam_epsilon),
        advantages_given=True,
    )
    agent.initialize()
    value = values(variables, tf.constant(observations.summaries())).numpy()
    returns = (batch.returns / np.sqrt(np.mean(np.square(batch.returns, dtype=np.float64)))).astype(np.float32)

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


if __name__ == "__main__":
    determinism.configure_tensorflow()
    unittest.main()
