import dataclasses
import unittest

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mlgo.explanation.decision import attribute, explain, formula, shapley, typical_levels, typical_of
from mlgo.explanation.queried_policy import LAST_POSITION, queried_policy
from mlgo.explanation.testing import states
from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import NetworkConfig, PolicyNetwork, initial_network
from mlgo.learning.normalization import chosen_normalizer
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.problem import load_problem
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION

_TWO = {"cost_estimate": (-40, 50, -6.0), "callee_users": (0, 1, 2.0), "node_count": (0, 1, 0.0)}


def _other_network(problem, knots) -> PolicyNetwork:
    """A network of no special form."""
    return initial_network(chosen_normalizer(knots, problem), 3, NetworkConfig((8,), (4,), logits_init_factor=4.0))


class AttributionTest(unittest.TestCase):
    def test_parts_of_a_linear_policy_add_up(self):
        recorded = states.inlining("m", 100, 1)
        answers = states.replayed(states.linear(INLINING, _TWO, 3.0), INLINING, recorded)
        why = attribute(answers, range(100), typical_levels(answers.observations.levels))
        np.testing.assert_allclose(why.typical + why.contributions.sum(axis=1), answers.logits, atol=0.02)
        users = recorded.features["callee_users"][:, 0]
        parts = dict(zip(answers.asked.features, why.contributions.T))
        np.testing.assert_allclose(parts["callee_users"], 2.0 * (users - np.sort(users)[49]), atol=0.02)
        self.assertEqual(np.abs(parts["node_count"]).max(), 0.0)

    def test_an_embedding_is_one_feature(self):
        problem = load_problem("inlining_for_size+ir2vec.2.0123456789abcdef")
        plain = states.inlining("m", 60, 1)
        vectors = np.random.default_rng(1).random((60, 2)).astype(np.float32)
        features = {**plain.features, "callee_embedding": vectors, "caller_embedding": vectors}
        adds = {f"callee_embedding[{number}]": (0, 1, 2.0 - number) for number in (0, 1)}
        network = states.linear(problem, {"cost_estimate": (-40, 50, -6.0), **adds}, 3.0)
        answers = states.replayed(network, problem, dataclasses.replace(plain, features=features))
        typical = typical_of(answers)
        why = attribute(answers, range(60), typical.levels)
        self.assertEqual(answers.asked.features, ("cost_estimate", "callee_embedding"))
        expected = (vectors - np.sort(vectors, axis=0)[29]) @ [2.0, 1.0]
        np.testing.assert_allclose(why.contributions[:, 1], expected, atol=0.03)
        [explained] = explain(answers, [7], typical)
        lengths = np.linalg.norm(vectors, axis=1)
        self.assertAlmostEqual(explained.values["callee_embedding"], float(lengths[7]), places=6)
        self.assertAlmostEqual(typical.values["callee_embedding"], np.sort(lengths)[29], places=6)

    def test_parts_of_a_linear_choice_add_up_to_the_margin(self):
        answers = states.replayed(states.smallest_evictor(), EVICTION, states.eviction("m", 40, 1))
        why = attribute(answers, [3, 30], typical_levels(answers.observations.levels))
        self.assertIsNone(why.typical)
        np.testing.assert_allclose(why.contributions.sum(axis=1), [answers.margin(3), answers.margin(30)], atol=0.02)
        size = answers.asked.features.index("liverange_size")
        np.testing.assert_allclose(why.contributions[:, size], why.explained, atol=0.02)

    def test_parts_of_any_network_add_up_and_equal_features_add_nothing(self):
        knots = {"liverange_size": (0, 0.5, 1), "nr_urgent": (0, 0.5, 1), "progress": (0, 1)}
        network = _other_network(EVICTION, knots)
        # The first layer does not look at nr_urgent.
        kernel = np.array(network.weights["policy/0/kernel"])
        kernel[[column.feature == "nr_urgent" for column in network.normalizer.columns] + [False]] = 0
        network = network.with_weights({**network.weights, "policy/0/kernel": kernel})
        answers = states.replayed(network, EVICTION, states.eviction("m", 30, 1))
        why = attribute(answers, range(30), typical_levels(answers.observations.levels))
        self.assertEqual(answers.asked.features, ("nr_urgent", "liverange_size", "progress", LAST_POSITION))
        np.testing.assert_allclose(why.contributions.sum(axis=1), why.explained, atol=1e-9)
        self.assertEqual([answers.margin(n) for n in range(30)], why.explained.tolist())
        # Unlooked at; and the same for all candidates of a state.
        self.assertEqual(np.abs(why.contributions[:, [0, 2]]).max(), 0.0)
        self.assertGreater(np.abs(why.contributions[:, 1]).min(), 0.0)

    def test_parts_of_two_features_are_the_means_of_both_orders(self):
        network = _other_network(INLINING, {"cost_estimate": (-40, 50), "callee_users": (0, 1)})
        exact = exact_network(network.weights)
        before, after = np.array([[10, 20], [190, 0]], np.uint8)
        rows = np.array([[10, 20], [10, 0], [190, 20], [190, 0]], np.uint8)
        first, users_first, cost_first, last = exact.row_logits(rows).astype(np.float64)
        pairs = ((cost_first, users_first), (users_first, cost_first))
        expected = [((one - first) + (last - other)) / 2 for one, other in pairs]
        of_column = queried_policy(network, INLINING).of_column
        np.testing.assert_allclose(shapley(exact.row_logits, before, after, of_column, 2), expected)

    def test_the_formula_is_the_policy(self):
        found = formula(states.linear(INLINING, _TWO, 3.0))
        assert found is not None
        self.assertAlmostEqual(found["start"], 3.0, places=3)
        pieces = {piece["feature"]: round(piece["adds"], 2) for piece in found["pieces"]}
        self.assertEqual(pieces, {name: adds for name, (_, _, adds) in _TWO.items()})
        self.assertIsNone(formula(_other_network(INLINING, {"cost_estimate": (0, 1)})))

    @settings(deadline=None)
    @given(st.lists(st.floats(width=32), min_size=1, max_size=30))
    def test_the_median_of_levels_is_the_level_of_the_median(self, values):
        normalizer = chosen_normalizer({"use_def_density": (-1, 0, 0.25, 7)}, EVICTION)

        def levels(of):
            return normalizer.levels({"use_def_density": np.asarray(of, np.float32)}, np.zeros(len(of), bool))

        ranked = sorted(values, key=lambda value: (value != value, value))
        # NaN is the largest to the normaliser, and infinity as large.
        np.testing.assert_array_equal(typical_levels(levels(values)), levels([ranked[(len(values) - 1) // 2]])[0])
