"""A policy that tells its decision only is explained as the network that it was made of, as far as decisions go."""

import pathlib
import tempfile
import unittest

import numpy as np

from mlgo.explanation.decision import attribute, explain, typical_levels, typical_of
from mlgo.explanation.importance import importances
from mlgo.explanation.testing import states
from mlgo.learning.network import ConvertedPolicy, PolicyNetwork
from mlgo.policy.greedy_model import write_greedy_model
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.problem import Problem
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.problems.regalloc_priority.problem import PROBLEM as PRIORITY


def _converted(network: PolicyNetwork, problem: Problem) -> ConvertedPolicy:
    with tempfile.TemporaryDirectory() as scratch:
        folder = write_greedy_model(network, problem, pathlib.Path(scratch), "made")
        return ConvertedPolicy((folder / "model.tflite").read_bytes())


class QueriedPolicyTest(unittest.TestCase):
    def test_decisions_are_those_of_the_network(self):
        ordered = states.linear(PRIORITY, {"li_size": (0.0, 400.0, 4.0), "stage": (0.0, 5.0, 0.0)}, 0.0)
        for network, problem, recorded in (
            (states.stock_inliner(15), INLINING, states.inlining("m", 60, 1)),
            (states.smallest_evictor(), EVICTION, states.eviction("m", 40, 1)),
            (ordered, PRIORITY, states.priority("m")),
        ):
            with self.subTest(problem.name):
                policies = (network, _converted(network, problem))
                one, other = (states.replayed(policy, problem, recorded) for policy in policies)
                np.testing.assert_array_equal(other.policy, one.policy)
                np.testing.assert_array_equal(other.differs, one.differs)
                self.assertGreater(len(set(other.policy.tolist())), 1)
                self.assertEqual((other.margin(0), other.probability(0, other.policy[0])), (None, None))

    def test_the_feature_that_decides_is_the_reason(self):
        recorded = states.inlining("m", 60, 1)
        answers = states.replayed(_converted(states.stock_inliner(), INLINING), INLINING, recorded)
        typical = typical_of(answers)
        why = attribute(answers, range(12), typical.levels)
        cost = answers.asked.features.index("cost_estimate")
        np.testing.assert_allclose(why.contributions[:, cost], why.explained - why.typical)
        np.testing.assert_array_equal(np.delete(why.contributions, cost, axis=1), 0)
        unlike_typical = int(np.argmax(why.explained != why.typical))
        [explained] = explain(answers, [unlike_typical], typical)
        self.assertEqual(explained.reasons[0].feature, "cost_estimate")
        self.assertIsNone(explained.probability)

    def test_a_candidate_is_chosen_for_what_it_has_and_the_alternative_has_not(self):
        recorded = states.eviction("m", 12, 1)
        answers = states.replayed(_converted(states.smallest_evictor(), EVICTION), EVICTION, recorded)
        several = [n for n in range(12) if np.diff(answers.observations.offsets)[n] > 1]
        why = attribute(answers, several, typical_levels(answers.observations.levels))
        size = answers.asked.features.index("liverange_size")
        np.testing.assert_allclose(why.contributions.sum(axis=1), why.contributions[:, size])
        # Where both are equal, the lower position is chosen.
        self.assertEqual(set(why.explained.tolist()), {0.0, 1.0})

    def test_importance(self):
        policy = _converted(states.smallest_evictor(), EVICTION)
        answers = states.replayed(policy, EVICTION, states.eviction("m", 60, 1))
        found = importances(answers.asked, {"m": answers.observations}, 1, 2)
        self.assertEqual(found[0].feature, "liverange_size")
        self.assertGreater(found[0].changed.share, 0.3)
        self.assertEqual(found[0].confidence_lost, found[0].changed.share)
        self.assertEqual({each.changed.share for each in found[1:]}, {0.0})
