"""Effect regression: it finds known effects, and credits no decision with later ones that it made possible."""

import types
import unittest
from collections.abc import Sequence

import numpy as np

from mlgo.learning.algorithms.effect_regression.algorithm import EffectConfig
from mlgo.learning.algorithms.effect_regression.learner import EffectLearner, effect_batch, feature_residuals, scale_for
from mlgo.learning.checkpoint import digest_of
from mlgo.learning.exact_network import exact_network
from mlgo.learning.learner import Sample
from mlgo.learning.linear_network import linear_network
from mlgo.learning.network import NetworkConfig, initial_network
from mlgo.learning.normalization import LEVEL_SCALE, build_normalizer
from mlgo.learning.observations import Observations, pack
from mlgo.learning.testing import synthetic_environments as synthetic
from mlgo.learning.testing.synthetic import binary_problem
from mlgo.run.exit_codes import RunError

_YES_NO, _CHOICE = synthetic.BinaryEnvironment(), synthetic.CategoricalEnvironment()
_COLUMNS = _YES_NO.normalizer.columns
#: The last knot of a feature.
_LIMIT = next(column.end for column in _COLUMNS if column.feature == "gain")

PROBLEM = binary_problem("swallow", {"large": "int64"})
NORMALIZER = build_normalizer({"large": np.array([0.0, 1.0])}, PROBLEM)
_TWO = pack({"large": np.array([[0], [1]])}, np.array([1, 0]), NORMALIZER, PROBLEM, np.zeros(2, np.int64))


def _fresh(environment):
    return initial_network(environment.normalizer, 1, NetworkConfig((8,), (4,)))


def _learner(environment=_YES_NO, network=None, state=None, **settings) -> EffectLearner:
    network = network or _fresh(environment)
    return EffectLearner(network, environment.problem, 1, EffectConfig(**settings), state)


def _logits(learner: EffectLearner, levels: Sequence[int]) -> np.ndarray:
    """Of rows that hold the same level in every column."""
    rows = np.array(levels, np.uint8)[:, None].repeat(_YES_NO.normalizer.width, axis=1)
    return exact_network(learner.network.weights).row_logits(rows)


def _constant(z: float):
    """A policy that answers z to everything."""
    like = initial_network(NORMALIZER, 1, NetworkConfig((4,), (4,)))
    return linear_network(like, np.array([0.0] * NORMALIZER.width + [z]))


def _swallowing(random: np.random.Generator, module: str, variant: int) -> Sample:
    """A function with one call of a large function, which costs 1 when it is inlined and brings eight calls of getters
    into the caller; to inline one of these saves 0.05.
    """
    swallowed = int(random.random() < 0.5)
    getters = (random.random(8 * swallowed) < 0.5).astype(np.int64)
    large = np.array([[1]] + [[0]] * len(getters), np.int64)
    actions = np.concatenate([[swallowed], getters])
    observations = pack({"large": large}, actions, NORMALIZER, PROBLEM, np.zeros(len(actions), np.int64))
    gained = -1.0 * swallowed + 0.05 * getters.sum()
    return Sample(module, variant, gained, 1.0, observations, ("f",), {"f": gained})


class EffectTest(unittest.TestCase):
    def test_the_first_policy_may_be_written_down(self):
        start = {"start": {"gain": 1.0}, "start_bias": -0.5}
        learner = _learner(**start)
        pieces = sum(column.feature == "gain" for column in _COLUMNS)
        np.testing.assert_allclose(_logits(learner, [0, 192]), [-0.5, pieces - 0.5], atol=0.02)
        resumed, name = _learner(state=learner.state(), **start), "policy/0/kernel"
        np.testing.assert_array_equal(resumed.network.weights[name], _fresh(_YES_NO).weights[name])
        with self.assertRaisesRegex(RunError, "EffectConfig.start: names gains"):
            _learner(start={"gains": 1.0})

    def test_a_preference_holds_from_the_first_policy_on_whatever_is_learned(self):
        start = {"start": {"gain": 1.0}, "start_bias": -0.5}
        learner, plain = _learner(**start, preferred_below={"gain": (_LIMIT, 7.0)}), _learner(**start)
        np.testing.assert_allclose(_logits(learner, [0, 192]) - _logits(plain, [0, 192]), [7.0, 0.0], atol=0.05)
        synthetic.train(_YES_NO, learner, 2, 8)
        self.assertGreater(_logits(learner, [0])[0], 0.0)
        synthetic.train(_YES_NO, plain, 2, 8)
        self.assertLess(_logits(plain, [0])[0], 0.0)

    def test_the_first_update_may_keep_what_the_start_knows(self):
        columns = _YES_NO.normalizer.width + 1
        known = linear_network(_fresh(_YES_NO), np.random.default_rng(3).normal(0, 1, columns))
        levels = np.random.default_rng(4).integers(0, 193, (200, columns - 1)).astype(np.uint8)

        def likeness(first_step: float) -> float:
            preferred = {"gain": (_LIMIT, 2.0)}
            learner = _learner(network=known, prior=0.0, first_step=first_step, preferred_below=preferred)
            # The policy holds what its own training preferred.
            self.assertIs(learner.network, known)
            synthetic.train(_YES_NO, learner, 1, 8)
            logits = [exact_network(each.weights).row_logits(levels) for each in (learner.network, known)]
            return float(((logits[0] > 0) == (logits[1] > 0)).mean())

        shares = [likeness(first_step) for first_step in (0.05, 0.5, 1.0)]
        self.assertGreater(shares[0], 0.9)
        self.assertGreater(shares[0], shares[1])
        self.assertGreater(shares[1], shares[2] + 0.1)

    def test_a_preference_needs_a_knot_as_its_limit(self):
        for preferred, problem in (({"gain": (0.123, 7.0)}, "limit 0.123 for gain"), ({"gains": (0.0, 7.0)}, "look")):
            with self.assertRaisesRegex(RunError, problem):
                _learner(preferred_below=preferred)

    def test_getters_are_not_blamed_for_the_function_that_brought_them(self):
        random = np.random.default_rng(1)
        samples = [_swallowing(random, str(module), variant) for module in range(400) for variant in range(4)]
        learner = EffectLearner(_constant(0.0), PROBLEM, 1, EffectConfig(prior=0.0, effect_deviation=1e3))
        learner.update(0, samples)
        effect = learner.state()["effect"]
        of_getter, of_large = effect[-1], effect[-1] + effect[0] * 192 * LEVEL_SCALE
        # Eight getters are inlined half of the time: the large one costs 1 - 8 * 0.05 / 2.
        self.assertAlmostEqual(of_large, -0.8, delta=0.1)
        self.assertAlmostEqual(of_getter, 0.05, delta=0.02)
        # A regression on what was done, not on what chance decided, gets the sign wrong.
        inlined = []
        for sample in samples:
            shown = sample.observations
            assert shown is not None and shown.outputs is not None
            inlined.append([shown.outputs @ shown.levels[:, 0] / 192, shown.outputs[1:].sum()])
        done = np.array(inlined)
        returns = np.array([s.improvement for s in samples])
        alone = np.linalg.lstsq(np.column_stack([done[:, 1], np.ones(len(done))]), returns, rcond=None)[0]
        self.assertLess(alone[0], 0)

    def test_one_round_is_nearly_enough_for_a_simple_problem(self):
        for environment, exploration in ((_YES_NO, 0.04), (_CHOICE, 0.2)):
            learner = _learner(environment, exploration=exploration)
            metrics = synthetic.train(environment, learner, 2, 8)
            self.assertGreater(synthetic.share_of_optimum(environment, learner.network), 0.95)
            self.assertAlmostEqual(metrics[-1]["exploration_rate"], exploration, delta=0.02)

    def test_going_on_from_a_state_gives_the_same_bytes(self):
        whole, first = _learner(), _learner()
        synthetic.train(_YES_NO, whole, 3, 4)
        synthetic.train(_YES_NO, first, 1, 4)
        resumed = _learner(network=first.network, state=first.state())
        for iteration in (1, 2):
            modules = range(4 * iteration, 4 * iteration + 4)
            samples = synthetic.samples_of(_YES_NO, modules, resumed.variants(iteration), iteration)
            resumed.update(iteration, samples)
        self.assertEqual(digest_of(whole.network.weights), digest_of(resumed.network.weights))

    def test_without_two_samples_of_a_function_nothing_can_be_learned(self):
        random = np.random.default_rng(1)
        with self.assertRaisesRegex(RunError, "no function with decisions and a score in two samples"):
            effect_batch([_swallowing(random, str(module), 0) for module in range(3)], _constant(0.0))

    def test_continuous_decisions_are_refused(self):
        with self.assertRaisesRegex(RunError, "has continuous decisions, and EffectLearner needs a finite action set"):
            _learner(synthetic.ContinuousEnvironment())


class SurprisesTest(unittest.TestCase):
    def test_they_have_mean_zero_under_the_policy(self):
        levels = np.array([[0, 64], [128, 0], [192, 32]], np.uint8)
        offsets, positions = np.array([0, 3]), np.arange(3, dtype=np.int32)
        logits = np.array([0.5, -1.0, 0.0], np.float32)
        chance = np.exp(logits) / np.exp(logits).sum()
        mean = 0.0
        for row in range(3):
            one = Observations(levels, offsets, positions, np.array([row]), np.array([0]), 3)
            mean += chance[row] * feature_residuals(one, logits)[0][0]
        np.testing.assert_allclose(mean, 0, atol=1e-7)

    def test_unlikely_decisions_are_counted(self):
        self.assertEqual(feature_residuals(_TWO, np.array([1.0, 1.0], np.float32))[1], 1)


class LinearNetworkTest(unittest.TestCase):
    def test_it_answers_as_the_linear_policy_and_is_cut_off(self):
        random = np.random.default_rng(2)
        like = _fresh(_YES_NO)
        effect = random.normal(0, 2, like.normalizer.width + 1)
        levels = random.integers(0, 193, (500, like.normalizer.width)).astype(np.uint8)
        wanted = np.clip(np.column_stack([levels * LEVEL_SCALE, np.ones(500)]) @ effect, -8, 8)
        found = exact_network(linear_network(like, effect).weights).row_logits(levels)
        self.assertGreater(np.abs(wanted).max(), 7)
        np.testing.assert_allclose(found, wanted, atol=0.05)

    def test_scale(self):
        effect = np.array([0.0] * NORMALIZER.width + [0.1])
        scale = scale_for(effect, [_TWO], 0.1, np.zeros_like(effect))
        self.assertAlmostEqual(1 / (1 + np.exp(0.1 * scale)), 0.1, places=6)


_EFFECT = np.array([2.0, -1.0, 0.5])


def _memory(decay: float = 1.0, outlier: float = 3.0):
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
        return EffectLearner._regress(learner, x, y, np.ones(len(y)), 0.01)

    def test_a_known_effect_is_found_and_explains_nearly_all(self):
        effect, explained = self.regressed(_memory(), *_equations(500, 1))
        np.testing.assert_allclose(effect, _EFFECT, atol=0.02)
        self.assertGreater(explained, 0.99)

    def test_outliers_move_it_little(self):
        x, y = _equations(500, 2)
        y[:10] += 1000.0
        robust, _ = self.regressed(_memory(outlier=1.0), x, y)
        plain, _ = self.regressed(_memory(outlier=1e9), x, y)
        self.assertLess(np.abs(robust - _EFFECT).max(), 0.5)
        self.assertGreater(np.abs(plain - _EFFECT).max(), 5.0)

    def test_earlier_iterations_count_by_the_decay(self):
        first, second = _equations(50, 3), _equations(50, 4)
        whole, _ = self.regressed(_memory(outlier=1e9), *(np.concatenate(parts) for parts in zip(first, second)))
        for decay, same in ((1.0, whole), (0.0, self.regressed(_memory(outlier=1e9), *second)[0])):
            learner = _memory(decay, outlier=1e9)
            self.regressed(learner, *first)
            np.testing.assert_allclose(self.regressed(learner, *second)[0], same, rtol=1e-9)
