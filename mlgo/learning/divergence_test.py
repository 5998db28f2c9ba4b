"""Divergence: each condition is found in metrics, said in a sentence, and answered as the user wants if that helps."""

import unittest

from mlgo.learning import divergence
from mlgo.learning.algorithms.effect_regression.algorithm import EffectConfig
from mlgo.learning.algorithms.es.algorithm import EsConfig
from mlgo.learning.algorithms.ppo.algorithm import PpoConfig
from mlgo.learning.algorithms.registry import ALGORITHMS

_RULES = divergence.DivergenceRules(patience=2)
_HEALTHY = {"entropy": 0.3, "return_deviation": 0.1, "kl": 0.01}


class JudgeTest(unittest.TestCase):
    def assert_found(self, history, kind: divergence.Divergence, message: str) -> None:
        found = divergence.judge(history, _RULES)
        assert found is not None
        self.assertEqual(found.kind, kind)
        self.assertRegex(str(found), message)

    def test_healthy_metrics_are_nothing_to_worry_about(self):
        for history in ([], [_HEALTHY] * 5, [{"decisions": 7.0}] * 5):
            self.assertIsNone(divergence.judge(history, _RULES))

    def test_metrics_that_are_not_finite(self):
        message = "iteration 1: its kl is nan. Resume with a smaller learning rate"
        self.assert_found([_HEALTHY, _HEALTHY | {"kl": float("nan")}], divergence.Divergence.NOT_FINITE, message)

    def test_collapsed_entropy_takes_patience(self):
        collapsed = _HEALTHY | {"entropy": 1e-5}
        for history in ([_HEALTHY, collapsed], [collapsed]):
            self.assertIsNone(divergence.judge(history, _RULES))
        message = "iteration 1: the entropy of decisions is 1e-05, for 2 iterations below 0.001"
        self.assert_found([collapsed, collapsed], divergence.Divergence.COLLAPSED_ENTROPY, message)

    def test_equal_returns_of_decisions_and_of_candidates(self):
        message = "all returns have been equal for 2 iterations"
        for name in ("return_deviation", "improvement_deviation"):
            self.assert_found([{name: 0.0}, {name: 1e-9}], divergence.Divergence.EQUAL_RETURNS, message)
            self.assertIsNone(divergence.judge([{name: 0.0}, {name: 0.1}], _RULES))


class AnswerTest(unittest.TestCase):
    def test_stop_or_roll_back(self):
        stop, back = divergence.OnDivergence.STOP, divergence.OnDivergence.ROLL_BACK
        for kind, wanted, rollbacks, answer in (
            (divergence.Divergence.EXPLODED, stop, 0, stop),
            (divergence.Divergence.EXPLODED, back, 0, back),
            (divergence.Divergence.NOT_FINITE, back, 2, back),
            (divergence.Divergence.NOT_FINITE, back, 3, stop),
            (divergence.Divergence.COLLAPSED_ENTROPY, back, 0, stop),
            (divergence.Divergence.EQUAL_RETURNS, back, 0, stop),
        ):
            error = divergence.DivergenceError(kind, "here", "wrong", "remedy")
            self.assertEqual(divergence.answer_to(error, wanted, rollbacks, _RULES), answer)

    def test_a_rollback_slows_any_learner(self):
        config = PpoConfig(learning_rate=1e-3)
        self.assertIs(divergence.slowed(config, 0, _RULES), config)
        self.assertEqual(divergence.slowed(config, 2, _RULES), PpoConfig(learning_rate=2.5e-4))
        self.assertEqual(divergence.slowed(EsConfig(learning_rate=0.04), 1, _RULES).learning_rate, 0.02)
        self.assertEqual(divergence.slowed(EffectConfig(step=0.5), 1, _RULES).step, 0.25)
        for name, algorithm in ALGORITHMS.items():
            self.assertNotEqual(divergence.slowed(algorithm.config(), 1, _RULES), algorithm.config(), name)

    def test_rules_are_checked(self):
        with self.assertRaisesRegex(ValueError, "slow_down=1"):
            divergence.DivergenceRules(slow_down=1)
        with self.assertRaisesRegex(ValueError, "patience=0"):
            divergence.DivergenceRules(patience=0)
