"""BC-Max: complementary policies are combined, the best is remembered, repetition and resuming byte for byte."""

import functools
import unittest

import numpy as np

from mlgo.learning.algorithms.bc_max.algorithm import BcMaxConfig
from mlgo.learning.algorithms.bc_max.learner import BcMaxLearner, Remembered, best_of, entry_of
from mlgo.learning.behavioural_cloning import train_bc
from mlgo.learning.checkpoint import digest_of
from mlgo.learning.cloning_config import BcConfig
from mlgo.learning.learner import Sample
from mlgo.learning.network import NetworkConfig, initial_network
from mlgo.learning.testing import synthetic_environments as synthetic
from mlgo.learning.testing.learner_contract import check_repeatable
from mlgo.run import determinism
from mlgo.run.exit_codes import RunError

setUpModule = determinism.configure_tensorflow

_ENVIRONMENT = synthetic.BinaryEnvironment()


def _fresh(environment=_ENVIRONMENT):
    return initial_network(environment.normalizer, 1, NetworkConfig((32, 16), (4,)))


def _learner(seed: int = 1, network=None, state=None, policies=(), **settings) -> BcMaxLearner:
    config = BcMaxConfig(**{"learning_rate": 3e-3, **settings})
    return BcMaxLearner(network or _fresh(), _ENVIRONMENT.problem, seed, config, state, policies)


def _sample(variant: int, improvement: float, credits: dict[str, float], answer: int) -> Sample:
    """Functions a and b, two decisions each, all decided as `answer`."""
    shown = synthetic.play(_ENVIRONMENT, [0], lambda shown, step: np.full(len(shown["gain"]), answer)).observations
    part = shown.select(np.array([0, 8, 1, 9]))
    return Sample("m", variant, improvement, 1.0, part, ("a", "b"), credits)


def _entry(sample: Sample) -> Remembered:
    """What is remembered of a sample with scores."""
    entry = entry_of(sample)
    assert entry is not None
    return entry


class BestTest(unittest.TestCase):
    def setUp(self):
        one, other = {"a": 0.5, "b": -0.3}, {"a": 0.1, "b": 0.3}
        self.entries = [_entry(_sample(0, 0.1, one, answer=1)), _entry(_sample(1, 0.2, other, answer=0))]

    def test_of_a_module_all_decisions_of_the_best_compile(self):
        best = best_of(self.entries, "module")
        np.testing.assert_array_equal(best.observations.actions, [0, 0, 0, 0])
        self.assertEqual(best.improvement, 0.2)

    def test_of_a_context_those_of_the_compile_that_was_best_for_it(self):
        best = best_of(self.entries, "context")
        self.assertEqual(best.contexts, ("a", "b"))
        np.testing.assert_array_equal(best.observations.actions, 1 - best.observations.group)
        np.testing.assert_array_equal(best.credits, [0.5, 0.3])
        again = best_of([best, *self.entries], "context")
        self.assertEqual(digest_of({"l": again.observations.levels}), digest_of({"l": best.observations.levels}))

    def test_contexts_without_a_score_are_not_imitated(self):
        entry = _entry(_sample(0, 0.1, {"b": 0.5, "gone": 1.0}, answer=1))
        self.assertEqual((entry.contexts, len(entry.observations)), (("b",), 2))
        self.assertIsNone(entry_of(_sample(0, 0.1, {"gone": 1.0}, answer=1)))
        with self.assertRaisesRegex(RunError, "no decision with a score that could be imitated"):
            _learner().update(0, [_sample(0, 0.1, {}, answer=1)])


class BcMaxTest(unittest.TestCase):
    def test_complementary_policies_are_combined(self):
        # Each knows what is best in half of the modules and answers no in the other half, told apart by a feature.
        environment = _ENVIRONMENT
        policies = []
        for low in (True, False):

            def half(shown, step, low=low):
                known = (shown["noise"][:, 0] < 0.5) == low
                return np.where(known, environment.best(shown, step), 0)

            shown = synthetic.play(environment, range(200), half).observations
            policies.append(train_bc(_fresh(), shown, 1, BcConfig(epochs=30, learning_rate=5e-3)).network)

        class Halves(synthetic.BinaryEnvironment):
            def start(self, random, functions):
                state = super().start(random, functions)
                state["noise"][:] = random.choice([0.2, 0.8])
                return state

        halves = Halves()
        shares = [synthetic.share_of_optimum(halves, policy) for policy in policies]
        learner = _learner(policies=policies, exploring_samples=0, epochs=4)
        metrics = synthetic.train(halves, learner, 12, 8)
        self.assertGreater(synthetic.share_of_optimum(halves, learner.network), max(shares) + 0.15)
        self.assertGreater(metrics[0]["best_is_another_policy"], 0.5)

    def test_the_memory_has_an_end(self):
        learner = _learner(memory_modules=3)
        metrics = synthetic.train(_ENVIRONMENT, learner, 3, 2)
        self.assertEqual([each["remembered_modules"] for each in metrics], [2, 3, 3])
        state = learner.state()
        self.assertEqual([state[f"memory/{index}/module"].tobytes() for index in range(3)], [b"3", b"4", b"5"])

    def test_resuming_equals_not_stopping_and_seeds_matter(self):
        for granularity in ("module", "context"):
            # Modules of before: what is remembered matters.
            check_repeatable(self, functools.partial(_learner, granularity=granularity), _ENVIRONMENT, 2, range(1, 4))

    def test_there_must_be_something_to_imitate(self):
        with self.assertRaisesRegex(ValueError, "nothing better to imitate"):
            _learner(exploring_samples=0)
