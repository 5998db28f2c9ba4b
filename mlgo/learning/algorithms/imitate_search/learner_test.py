"""Imitation of a search: it finds known margins, also from moves of several decisions, and else keeps the start."""

import unittest

import numpy as np

from mlgo.learning.algorithms.imitate_search.algorithm import ImitateSearchConfig
from mlgo.learning.algorithms.imitate_search.learner import ImitateSearchLearner
from mlgo.learning.checkpoint import decode_arrays, digest_of, encode_arrays
from mlgo.learning.exact_network import exact_network
from mlgo.learning.learner import MeasuredMove, MovePlan, Sample, Variant
from mlgo.learning.moves import MARGIN_BYTES, measured_moves
from mlgo.learning.network import NetworkConfig, initial_network
from mlgo.learning.observations import pack
from mlgo.learning.testing import synthetic
from mlgo.learning.testing.calls import NORMALIZER, PROBLEM, START, iterations, sample
from mlgo.run.exit_codes import RunError


def margins(cost: np.ndarray, uses: np.ndarray) -> np.ndarray:
    """Bytes that inlining saves in these tests: less for dear calls, and more where the function then vanishes."""
    return 40.0 - 0.5 * cost + 30.0 * (uses == 1)


def learner(state=None, network=None, **settings) -> ImitateSearchLearner:
    network = network or initial_network(NORMALIZER, 1, NetworkConfig((8,), (4,)))
    return ImitateSearchLearner(network, PROBLEM, 1, ImitateSearchConfig(**{**START, **settings}), state)


def answers(of: ImitateSearchLearner, cost: np.ndarray, uses: np.ndarray) -> np.ndarray:
    """Margins that the learner's policy gives, in bytes."""
    values = {"cost": cost[:, None], "uses": uses[:, None]}
    packed = pack(values, np.zeros(len(cost), np.int64), NORMALIZER, PROBLEM)
    return MARGIN_BYTES * exact_network(of.network.weights).row_logits(packed.levels)


class ImitateSearchTest(unittest.TestCase):
    def train(self, of: ImitateSearchLearner, rounds: int, per_move: int, **given) -> list[dict[str, float]]:
        return [
            of.update(number, samples) for number, samples in enumerate(iterations(rounds, per_move, margins, **given))
        ]

    def test_it_finds_what_a_decision_is_worth_from_moves_of_any_size(self):
        random = np.random.default_rng(2)
        cost, uses = random.integers(0, 101, 500), random.integers(1, 4, 500)
        for per_move in (1, 5):
            with self.subTest(per_move):
                found = learner(effect_deviation=3.0)
                figures = self.train(found, 8, per_move)
                np.testing.assert_allclose(answers(found, cost, uses), margins(cost, uses), atol=4)
                self.assertGreater(figures[-1]["explained_variance"], 0.98)
                self.assertGreater(figures[-1]["share_of_gain"], 0.98)

    def test_the_first_policy_is_the_start(self):
        cost = np.array([0, 40, 60, 100])
        found = answers(learner(), cost, np.ones(4, np.int64))
        np.testing.assert_array_equal(found > 0, [True, True, False, False])

    def test_decisions_unlike_all_that_were_measured_are_left_to_the_start(self):
        found = learner(effect_deviation=3.0)
        self.train(found, 8, 1, highest_cost=50)
        dear = answers(found, np.array([90, 100]), np.array([3, 3]))
        self.assertTrue((dear < answers(found, np.array([50, 50]), np.array([3, 3]))).all())
        # The margins at cost 50 are 15 bytes; the start takes more from there on.
        self.assertTrue((dear < 15).all())

    def test_a_costly_mistake_counts_more_than_a_frequent_one(self):
        # Of four equal calls three save 8 bytes, and one costs 80.
        observations = pack(
            {"cost": np.full((4, 1), 30), "uses": np.full((4, 1), 2)}, np.zeros(4, np.int64), NORMALIZER, PROBLEM
        )
        moves = tuple(MeasuredMove(np.array([index]), saved) for index, saved in enumerate((8.0, 8.0, 8.0, -80.0)))
        found = learner(effect_deviation=10.0, outlier=100.0, decay=0.0)
        for number in range(6):
            found.update(number, [Sample("m", 0, 0.0, 1.0, observations, ("f",) * 4, moves=moves)])
        self.assertLess(answers(found, np.array([30]), np.array([2]))[0], 0)

    def test_a_stopped_learner_goes_on_to_the_same_bytes(self):
        whole, stopped = learner(), learner()
        self.train(whole, 3, 2)
        rounds = iterations(3, 2, margins)
        stopped.update(0, rounds[0])
        state = decode_arrays(encode_arrays(stopped.state()), "state")
        resumed = learner(state, stopped.network)
        for number in (1, 2):
            resumed.update(number, rounds[number])
        self.assertEqual(digest_of(whole.network.weights), digest_of(resumed.network.weights))
        self.assertEqual(digest_of(whole.state()), digest_of(resumed.state()))

    def test_what_is_compiled(self):
        found = learner(compiles_per_module=9, compiles_against_policy=4, unpromising=0.25)
        self.assertEqual(found.move_plan, MovePlan(9, 4, 0.25))
        self.assertEqual(found.variants(0), [Variant(found.network, exploring=False)])

    def test_the_gain_of_the_search(self):
        one = sample(np.random.default_rng(3), "m", 1, margins)
        better = Sample("m", 1, 0.03, 1.0)
        self.assertAlmostEqual(learner().update(0, [one, better])["search_gain"], 2.0)

    def test_a_move_of_several_decisions_has_less_weight(self):
        batch = measured_moves([sample(np.random.default_rng(3), "m", 59, margins)])
        self.assertAlmostEqual(batch.weights[1] / batch.weights[0], 59)

    def test_without_measurements_nothing_can_be_learned(self):
        with self.assertRaisesRegex(RunError, "the compiles of 1 modules in an iteration: measured no change"):
            learner().update(0, [Sample("m", 0, 0.0, 1.0)])

    def test_a_problem_whose_decisions_cannot_be_given_is_refused(self):
        network = initial_network(synthetic.normalizer(), 1, NetworkConfig((8,), (4,)))
        with self.assertRaisesRegex(RunError, "problem synthetic: has no compiler that takes single decisions"):
            ImitateSearchLearner(network, synthetic.PROBLEM, 1, ImitateSearchConfig())

    def test_wrong_settings_are_named(self):
        for wrong in (
            {"compiles_per_module": 1},
            {"compiles_against_policy": 0},
            {"compiles_against_policy": 4},
            {"unpromising": 1.5},
            {"step": 0.0},
            {"outlier": -1.0},
        ):
            message = f"ImitateSearchConfig.*{next(iter(wrong))}"
            with self.subTest(**wrong), self.assertRaisesRegex(ValueError, message):
                ImitateSearchConfig(**wrong)


if __name__ == "__main__":
    unittest.main()
