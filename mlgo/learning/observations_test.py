import unittest

import numpy as np

from mlgo.learning.observations import ObservationError, concatenate, pack
from mlgo.learning.testing import synthetic
from mlgo.learning.testing.synthetic_environments import BinaryEnvironment, ContinuousEnvironment


def _pack(seed: int, count: int, group=None):
    values = synthetic.features(np.random.default_rng(seed), count)
    return values, pack(values, synthetic.best(values), synthetic.normalizer(), synthetic.PROBLEM, group)


class ObservationsTest(unittest.TestCase):
    def test_rows_are_the_legal_candidates_in_order(self):
        values, packed = _pack(1, 5000)
        observation, position = np.nonzero(values["legal"][:, 0])
        np.testing.assert_array_equal(packed.row_observation(), observation)
        np.testing.assert_array_equal(packed.positions, position)
        np.testing.assert_array_equal(packed.actions, synthetic.best(values))

    def test_levels_are_those_of_each_row(self):
        values, packed = _pack(2, 300)
        observation, position = np.nonzero(values["legal"][:, 0])
        rows = {name: values[name][observation, 0, position] for name in ("cost", "kind")}
        rows["progress"] = values["progress"][observation, 0]
        levels = synthetic.normalizer().levels(rows, position == synthetic.POSITIONS - 1)
        np.testing.assert_array_equal(packed.levels, levels)

    def test_what_masked_positions_hold_does_not_matter(self):
        values, packed = _pack(3, 200)
        values["cost"][values["legal"] == 0] = np.nan
        values["kind"][values["legal"] == 0] = 2**62
        again = pack(values, packed.actions, synthetic.normalizer(), synthetic.PROBLEM)
        np.testing.assert_array_equal(again.levels, packed.levels)

    def test_select_and_concatenate(self):
        _, packed = _pack(4, 100, np.arange(100) // 10)
        halves = [packed.select(np.arange(50)), packed.select(np.arange(50, 100))]
        joined = concatenate(halves)
        np.testing.assert_array_equal(joined.levels, packed.levels)
        np.testing.assert_array_equal(joined.chosen, packed.chosen)
        np.testing.assert_array_equal(joined.offsets, packed.offsets)
        self.assertEqual(len(np.unique(joined.group)), 10)
        backwards = packed.select(np.arange(100)[::-1])
        np.testing.assert_array_equal(backwards.actions, packed.actions[::-1])
        np.testing.assert_array_equal(backwards.summaries(), packed.summaries()[::-1])
        self.assertEqual(len(packed.select(np.array([], int))), 0)

    def test_an_illegal_decision_is_named(self):
        values, packed = _pack(5, 10)
        actions = packed.actions
        values["legal"][7, 0] = [1, 0, 0, 0, 0]
        for wrong in (3, -1, 5):
            actions[7] = wrong
            with self.assertRaisesRegex(ObservationError, rf"observation 7 of 10: decision {wrong} .* \[0\]"):
                pack(values, actions, synthetic.normalizer(), synthetic.PROBLEM)

    def test_an_answer_is_one_row(self):
        environment = BinaryEnvironment()
        features = {name: np.linspace(0, 1, 6).reshape(6, 1) for name in ("gain", "after_yes", "progress", "noise")}
        answers = np.array([0, 1, 1, 0, 1, 0])
        packed = pack(features, answers.reshape(6, 1), environment.normalizer, environment.problem, np.arange(6) // 2)
        np.testing.assert_array_equal(packed.actions, answers)
        dtypes = packed.actions.dtype, packed.chosen_values.dtype
        self.assertEqual((*dtypes, packed.row_count), (np.int64, np.float32, 6))
        rows = {name: values[:, 0] for name, values in features.items()}
        np.testing.assert_array_equal(packed.levels, environment.normalizer.levels(rows, np.ones(6, bool)))
        np.testing.assert_array_equal(packed.summaries(), packed.levels)
        joined = concatenate([packed.select(np.array([4, 1])), packed])
        np.testing.assert_array_equal(joined.actions, [1, 1, 0, 1, 1, 0, 1, 0])
        with self.assertRaisesRegex(ObservationError, "observation 2 of 6: decision 2 is not within 0 .. 1"):
            pack(features, np.array([0, 1, 2, 3, 0, 0]), environment.normalizer, environment.problem)

    def test_numbers_come_in_units_of_the_network(self):
        environment = ContinuousEnvironment()
        features = {name: np.full((3, 1), 0.5, np.float32) for name in ("weight", "length")}
        packed = pack(features, np.array([0, 2.25, 16], np.float32), environment.normalizer, environment.problem)
        np.testing.assert_array_equal(packed.actions, np.array([0, 4.5, 32], np.float32))
        self.assertEqual(packed.max_output, 15.0)
        with self.assertRaisesRegex(ObservationError, "observation 1 of 3: decision nan"):
            pack(features, np.array([0, np.nan, 16], np.float32), environment.normalizer, environment.problem)

    def test_nothing_to_join_is_an_error(self):
        with self.assertRaisesRegex(ObservationError, "no observations at all"):
            concatenate([])
