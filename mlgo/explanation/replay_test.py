"""Replay in simulated states: clones of the heuristic, other thresholds, continuous decisions, errors."""

import unittest

import numpy as np

from mlgo.explanation.replay import confidence
from mlgo.explanation.testing import states
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.problems.regalloc_priority.problem import PROBLEM as PRIORITY
from mlgo.run.exit_codes import RunError


class ReplayTest(unittest.TestCase):
    def test_a_clone_of_the_heuristic_differs_nowhere(self):
        for problem, network, recorded in (
            (INLINING, states.stock_inliner(), states.inlining("m", 300, 1)),
            (EVICTION, states.smallest_evictor(), states.eviction("m", 300, 1)),
        ):
            answers = states.replayed(network, problem, recorded)
            self.assertEqual((answers.known_differs.sum(), answers.disagreements), (0, 0), problem.name)

    def test_who_inlines_up_to_another_threshold_differs_between_the_two(self):
        recorded = states.inlining("m", 300, 1, threshold=5)
        cost = recorded.features["cost_estimate"][:, 0]
        between = (cost > 5) & (cost < 15)
        answers = states.replayed(states.stock_inliner(15), INLINING, recorded)
        np.testing.assert_array_equal(answers.differs, between)
        self.assertEqual(answers.disagreements, between.sum())

    def test_numbers_differ_where_they_order_otherwise(self):
        answers = states.replayed(states.prioritizer(), PRIORITY, states.priority("m", [10, 50, 20, 200, 300, 5]))
        np.testing.assert_array_equal(answers.differs, [False, False, False, False, True, False])
        self.assertIsNone(answers.probability(1, answers.policy[1]))
        self.assertIsNone(answers.margin(1))

    def test_probabilities_of_all_candidates_add_up_to_one(self):
        recorded = states.eviction("m", 50, 2)
        answers = states.replayed(states.smallest_evictor(), EVICTION, recorded)
        sure = confidence(answers.logits, answers.observations)
        for n in range(50):
            legal = np.flatnonzero(recorded.features["mask"][n, 0])
            chances = {int(position): answers.probability(n, position) or 0.0 for position in legal}
            self.assertAlmostEqual(sum(chances.values()), 1.0, places=6)
            best, second = sorted(chances.values(), reverse=True)[:2]
            self.assertEqual(chances[int(answers.policy[n])], best)
            self.assertAlmostEqual(answers.margin(n), np.log(best / second), places=4)
            self.assertAlmostEqual(sure[n], best, places=6)

    def test_the_margin_is_over_the_heuristic_where_it_differs(self):
        recorded = states.eviction("m", 50, 3)
        answers = states.replayed(states.largest_evictor(), EVICTION, recorded)
        self.assertEqual(answers.known_differs.sum(), 50)
        size = recorded.features["liverange_size"][:, 0, :]
        for n in range(50):
            self.assertEqual(answers.alternative(n), answers.row_of(n, recorded.taken[n]))
            apart = size[n, int(answers.policy[n])] - size[n, int(recorded.taken[n])]
            self.assertAlmostEqual(answers.margin(n), 8 * apart, delta=0.1)

    def test_decisions_that_no_compiler_takes_are_refused(self):
        recorded = states.eviction("broken", 5, 4)
        recorded.features["mask"][2] = 0
        wrong = r"decisions of broken: observation 2 of 5: decision .* not among the legal"
        with self.assertRaisesRegex(RunError, wrong):
            states.replayed(states.smallest_evictor(), EVICTION, recorded)
