"""The compact layout: rows of legal candidates, selection, joining, refusals."""

import unittest

import numpy as np

from mlgo.learning import synthetic
from mlgo.learning.observations import ObservationError, concatenate, pack


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
        np.testing.assert_array_equal(
            packed.levels, synthetic.normalizer().levels(rows, position == synthetic.POSITIONS - 1)
        )

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

    def test_nothing_to_join_is_an_error(self):
        with self.assertRaisesRegex(ObservationError, "no observations at all"):
            concatenate([])


if __name__ == "__main__":
    unittest.main()
