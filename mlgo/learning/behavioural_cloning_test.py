"""Cloning: finds a known rule, repeats byte for byte, survives kill -9."""

import dataclasses
import os
import signal
import subprocess
import sys
import unittest

import numpy as np

from mlgo.learning import behavioural_cloning
from mlgo.learning.checkpoint import digest_of
from mlgo.learning.cloning_config import BcConfig
from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import initial_network
from mlgo.learning.observations import Observations, pack
from mlgo.learning.testing import synthetic, synthetic_environments
from mlgo.run import determinism
from mlgo.run.exit_codes import RunError
from mlgo.run.progress import Silent
from mlgo.run.testing.folder_case import FolderCase

setUpModule = determinism.configure_tensorflow
_CONFIG = BcConfig(epochs=4, minibatch=256, validation_share=0.2)


def _packed(count: int, seed: int = 0, decisions: int = 20) -> Observations:
    """The best decisions of `count` observations. Args: decisions: of each function."""
    values = synthetic.features(np.random.default_rng(seed), count)
    group = np.arange(count) // decisions
    return pack(values, synthetic.best(values), synthetic.normalizer(), synthetic.PROBLEM, group)


def _clone(resume_dir=None, seed=1, config=_CONFIG, progress=None, count=4000):
    network = initial_network(synthetic.normalizer(), seed)
    return behavioural_cloning.train_bc(network, _packed(count), seed, config, resume_dir, progress)


class _KilledAfter(Silent):
    """Kills the process, without any chance to clean up, when `epochs` are done."""

    def __init__(self, epochs: int):
        self._left = epochs

    def advance(self, count: int = 1, note: str = "") -> None:
        self._left -= count
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)


class BehaviouralCloningTest(FolderCase):
    result: behavioural_cloning.BcResult

    @classmethod
    def setUpClass(cls):
        cls.result = _clone()

    def test_finds_the_rule_and_beats_the_majority(self):
        packed = _packed(4000)
        longer = _clone(config=BcConfig(epochs=15, validation_share=0.2))
        training, validation = (
            packed.actions[which] for which in behavioural_cloning.split_by_function(packed, 0.2, 1)
        )
        self.assertEqual(longer.majority_accuracy, np.mean(validation == np.bincount(training).argmax()))
        self.assertLess(longer.majority_accuracy, 0.4)
        self.assertGreater(longer.validation_accuracy, 0.93)
        self.assertLess(longer.epochs[-1].loss, longer.epochs[0].loss / 2)

    def test_equal_seeds_give_equal_bytes_and_others_do_not(self):
        digest = digest_of(self.result.network.weights)
        self.assertEqual(digest_of(_clone().network.weights), digest)
        self.assertNotEqual(digest_of(_clone(seed=2).network.weights), digest)

    def test_killed_and_resumed_equals_uninterrupted(self):
        command = [sys.executable, os.path.abspath(__file__), str(self.folder)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        child = subprocess.run(command, env=environment, check=False, timeout=120)
        self.assertEqual(child.returncode, -signal.SIGKILL)
        self.assertTrue((self.folder / "behavioural_cloning.json").exists())
        resumed = _clone(resume_dir=self.folder)
        self.assertEqual(resumed.epochs, self.result.epochs)
        self.assertEqual(digest_of(resumed.network.weights), digest_of(self.result.network.weights))

    def test_a_checkpoint_of_another_seed_is_refused(self):
        _clone(resume_dir=self.folder, config=BcConfig(epochs=1))
        with self.assertRaisesRegex(RunError, "another configuration or another seed. Delete it"):
            _clone(resume_dir=self.folder, seed=2, config=BcConfig(epochs=1))

    def test_functions_are_not_split(self):
        packed = _packed(1000, decisions=7)
        training, validation = behavioural_cloning.split_by_function(packed, 0.3, 5)
        self.assertEqual(len(training) + len(validation), 1000)
        self.assertFalse(set(packed.group[training]) & set(packed.group[validation]))
        self.assertTrue(0.15 < len(validation) / 1000 < 0.45)

    def test_smoothed_labels_bound_the_logits_of_a_rule(self):
        environment = synthetic_environments.BinaryEnvironment()
        packed = synthetic_environments.play(environment, range(60), environment.default).observations
        network = initial_network(environment.normalizer, 1)
        strays = []
        for smoothing in (0.0, 0.2):
            config = BcConfig(epochs=20, learning_rate=3e-3, label_smoothing=smoothing)
            result = behavioural_cloning.train_bc(network, packed, 1, config)
            self.assertGreater(result.validation_accuracy, 0.95)
            z = exact_network(result.network.weights).row_logits(packed.levels)
            strays.append(float(np.mean(1 / (1 + np.exp(np.abs(z))))))
        self.assertLess(strays[0], 0.05)
        self.assertAlmostEqual(strays[1], 0.1, delta=0.04)

    def test_smoothed_choices_are_bounded_too(self):
        sharp, smooth = self.result, _clone(config=dataclasses.replace(_CONFIG, label_smoothing=0.2))
        packed = _packed(500, seed=5)
        several = packed.select(np.flatnonzero(np.diff(packed.offsets) > 1))
        chances = [exact_network(each.network.weights).log_probabilities(several).mean() for each in (sharp, smooth)]
        self.assertLess(chances[1], chances[0])
        self.assertGreater(smooth.validation_accuracy, 0.85)

    def test_of_numbers_the_order_is_cloned(self):
        environment = synthetic_environments.ContinuousEnvironment()
        packed = synthetic_environments.play(environment, range(60), environment.default).observations
        # As LLVM's: the highest bit says next to nothing about the order.
        packed = dataclasses.replace(packed, outputs=packed.outputs + np.float32(2**15))
        config = BcConfig(epochs=20, learning_rate=3e-3)
        result = behavioural_cloning.train_bc(initial_network(environment.normalizer, 1), packed, 1, config)
        self.assertEqual(result.majority_accuracy, 0.5)
        self.assertGreater(result.validation_accuracy, 0.93)


class OrderTest(unittest.TestCase):
    def test_bit_fields_become_evenly_spread_ranks(self):
        priorities = np.array([5, 2**31, 2**31 + 2**29, 7, 5, 2**31], np.float32)
        targets = behavioural_cloning.ranks(priorities, priorities)
        orders = [np.sign(np.subtract.outer(values, values)) for values in (targets, priorities)]
        np.testing.assert_array_equal(*orders)
        self.assertTrue(behavioural_cloning.LOWEST < targets.min() and targets.max() < behavioural_cloning.HIGHEST)
        self.assertAlmostEqual(targets[3] - targets[0], 1.5)
        np.testing.assert_array_equal(
            behavioural_cloning.ranks(np.array([0, 1e12]), priorities), [targets.min(), targets.max()]
        )

    def test_agreement_is_about_neighbours_of_one_function(self):
        features = {name: np.zeros((5, 1), np.float32) for name in ("weight", "length")}
        environment = synthetic_environments.ContinuousEnvironment()
        actions, groups = np.array([1, 2, 2, 4, 3], np.float32), np.array([0, 0, 0, 1, 1])
        taken = pack(features, actions, environment.normalizer, environment.problem, groups)
        self.assertEqual(behavioural_cloning.order_agreement(taken, actions), 1.0)
        self.assertEqual(behavioural_cloning.order_agreement(taken, np.zeros(5)), 0.5)
        self.assertEqual(behavioural_cloning.order_agreement(taken, np.array([1, 2, 9, 3, 4])), 0.5)
        self.assertEqual(behavioural_cloning.order_agreement(taken.select(np.array([1, 2])), np.zeros(2)), 0.5)


if __name__ == "__main__":
    determinism.configure_tensorflow()
    _clone(resume_dir=sys.argv[1], progress=_KilledAfter(2))
