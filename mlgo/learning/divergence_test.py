"""Divergence: each condition is found in metrics, said in a sentence, and answered as the user wants where that can
help.
"""

import unittest

from mlgo.learning.algorithms.effect_regression.algorithm import EffectConfig
from mlgo.learning.algorithms.es.algorithm import EsConfig
from mlgo.learning.algorithms.ppo.algorithm import PpoConfig
from mlgo.learning.algorithms.registry import ALGORITHMS
from mlgo.learning.divergence import (
    Divergence,
    DivergenceError,
    DivergenceRules,
    OnDivergence,
    answer_to,
    judge,
    slowed,
)

_RULES = DivergenceRules(patience=2)
_HEALTHY = {"entropy": 0.3, "return_deviation": 0.1, "kl": 0.01}


class JudgeTest(unittest.TestCase):
    def test_healthy_metrics_are_nothing_to_worry_about(self):
        self.assertIsNone(judge([], _RULES))
        self.assertIsNone(judge([_HEALTHY] * 5, _RULES))
        self.assertIsNone(judge([{"decisions": 7.0}] * 5, _RULES))

    def test_metrics_that_are_not_finite(self):
        found = judge([_HEALTHY, _HEALTHY | {"kl": float("nan")}], _RULES)
        assert found is not None
        self.assertEqual(found.kind, Divergence.NOT_FINITE)
        self.assertRegex(str(found), "iteration 1: its kl is nan. Resume with a smaller learning rate")

    def test_collapsed_entropy_takes_patience(self):
        collapsed = _HEALTHY | {"entropy": 1e-5}
        self.assertIsNone(judge([_HEALTHY, collapsed], _RULES))
        self.assertIsNone(judge([collapsed], _RULES))
        found = judge([collapsed, collapsed], _RULES)
        assert found is not None
        self.assertEqual(found.kind, Divergence.COLLAPSED_ENTROPY)
        self.assertRegex(str(found), "iteration 1: the entropy of decisions is 1e-05, for 2 iterations below 0.001")

    def test_equal_returns_of_decisions_and_of_candidates(self):
        for name in ("return_deviation", "improvement_deviation"):
            found = judge([{name: 0.0}, {name: 1e-9}], _RULES)
            assert found is not None
            self.assertEqual(found.kind, Divergence.EQUAL_RETURNS)
            self.assertRegex(str(found), "all returns have been equal for 2 iterations")
            self.assertIsNone(judge([{name: 0.0}, {name: 0.1}], _RULES))


class AnswerTest(unittest.TestCase):
    def test_stop_or_roll_back(self):
        def answer(kind, wanted, rollbacks=0):
            return answer_to(DivergenceError(kind, "here", "wrong", "remedy"), wanted, rollbacks, _RULES)

        self.assertEqual(answer(Divergence.EXPLODED, OnDivergence.STOP), OnDivergence.STOP)
        self.assertEqual(answer(Divergence.EXPLODED, OnDivergence.ROLL_BACK), OnDivergence.ROLL_BACK)
        self.assertEqual(answer(Divergence.NOT_FINITE, OnDivergence.ROLL_BACK, 2), OnDivergence.ROLL_BACK)
        self.assertEqual(answer(Divergence.NOT_FINITE, OnDivergence.ROLL_BACK, 3), OnDivergence.STOP)
        for kind in (Divergence.COLLAPSED_ENTROPY, Divergence.EQUAL_RETURNS):
            self.assertEqual(answer(kind, OnDivergence.ROLL_BACK), OnDivergence.STOP)

    def test_a_rollback_slows_any_learner(self):
        config = PpoConfig(learning_rate=1e-3)
        self.assertIs(slowed(config, 0, _RULES), config)
        self.assertEqual(slowed(config, 2, _RULES), PpoConfig(learning_rate=2.5e-4))
        self.assertEqual(slowed(EsConfig(learning_rate=0.04), 1, _RULES).learning_rate, 0.02)
        self.assertEqual(slowed(EffectConfig(step=0.5), 1, _RULES).step, 0.25)
        for name, algorithm in ALGORITHMS.items():
            self.assertNotEqual(slowed(algorithm.config(), 1, _RULES), algorithm.config(), name)

    def test_rules_are_checked(self):
        with self.assertRaisesRegex(ValueError, "slow_down=1"):
            DivergenceRules(slow_down=1)
        with self.assertRaisesRegex(ValueError, "patience=0"):
            DivergenceRules(patience=0)


if __name__ == "__main__":
    unittest.main()
