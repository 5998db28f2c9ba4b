import unittest

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mlgo.learning.normalization import (
    TOP_LEVEL,
    Normalizer,
    build_normalizer,
    choose_knots,
    chosen_normalizer,
    load_normalizer,
    shown_features,
)
from mlgo.learning.testing import synthetic
from mlgo.problems.problem import load_problem
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

_ANY_FLOAT = st.floats(width=32, allow_nan=True, allow_infinity=True)


def _levels_of(normalizer: Normalizer, feature: str, values: np.ndarray) -> np.ndarray:
    rows = {name: np.zeros(len(values), np.float32) for name in normalizer.features}
    rows[feature] = values
    levels = normalizer.levels(rows, np.zeros(len(values), bool))
    return levels[:, [index for index, column in enumerate(normalizer.columns) if column.feature == feature]]


class KnotsTest(unittest.TestCase):
    def test_known_knots(self):
        for what, quantiles, knots in (
            ("few values are all knots", [0, 0, 0, 1, 2], [0, 1, 2]),
            ("a frequent value counts once", [*[0] * 900, *np.linspace(0, 1, 101)], [0, 0.25, 0.5, 0.75, 1]),
            ("not finite ones are passed over", [-np.inf, 1, 2, np.inf, np.nan, 1e300], [1, 2]),
            ("constant", [3, 3], [3]),
            ("empty", [], []),
            ("values too close for a finite slope are one", [0, 1e-40, 1], [0, 1]),
        ):
            with self.subTest(what):
                np.testing.assert_allclose(choose_knots(np.array(quantiles, float), 4), knots, atol=1e-7)

    @given(st.lists(_ANY_FLOAT, max_size=50), st.integers(1, 32))
    @settings(max_examples=200, deadline=None)
    def test_knots_increase_and_are_no_more_than_asked_for(self, values, segments):
        knots = choose_knots(np.sort(np.array(values, np.float64)), segments)
        self.assertLessEqual(len(knots), segments + 1)
        self.assertTrue(all(a < b for a, b in zip(knots, knots[1:])))


class EmbeddingsTest(unittest.TestCase):
    problem = load_problem("inlining_for_size+ir2vec.3.0123456789abcdef")

    def normalizer(self, **quantiles) -> Normalizer:
        of_all = {name: quantiles.get(name, [1.0]) for name in shown_features(self.problem)}
        return build_normalizer(of_all, self.problem)

    def test_each_number_is_a_feature_with_few_segments(self):
        values = np.linspace(-1, 1, 101)
        names = ("callee_embedding[1]", "caller_embedding[2]", "cost_estimate")
        found = self.normalizer(**dict.fromkeys(names, values))
        self.assertEqual(found.features, ("cost_estimate", "callee_embedding[1]", "caller_embedding[2]"))
        self.assertEqual(found.tensors, ("cost_estimate", "callee_embedding", "caller_embedding"))
        self.assertEqual(found.width, 4 + 2 + 2)
        self.assertIn("callee_embedding[0]", found.dropped)
        self.assertEqual(Normalizer.from_json(found.to_json()), found)

    def test_values_of_observations(self):
        found = self.normalizer(**{"callee_embedding[1]": [0, 2], "cost_estimate": [0, 1]})
        observations = {
            "cost_estimate": np.array([[5], [6]]),
            "callee_embedding": np.array([[1, 2, 3], [4, 5, 6]], np.float32),
        }
        values = found.values(observations)
        np.testing.assert_array_equal(values["callee_embedding[1]"], [2, 5])
        np.testing.assert_array_equal(values["cost_estimate"], [5, 6])
        none = found.values({name: array[:0] for name, array in observations.items()})
        self.assertEqual(none["callee_embedding[1]"].shape, (0,))
        with self.assertRaisesRegex(ValueError, r"callee_embedding\[1\] is not among the 1 values"):
            found.values({**observations, "callee_embedding": np.zeros((2, 1), np.float32)})
        with self.assertRaisesRegex(ValueError, "cost_estimate is not among the 3 values"):
            found.values({**observations, "cost_estimate": np.zeros((2, 3))})

    def test_they_change_nothing_for_a_policy_without_them(self):
        plain = load_problem("inlining_for_size")
        quantiles = {spec.name: np.arange(9.0) for spec in plain.observation_specs}
        every = {name: quantiles.get(name, [0.0]) for name in shown_features(self.problem)}
        self.assertEqual(build_normalizer(quantiles, plain).columns, build_normalizer(every, self.problem).columns)


class ChosenKnotsTest(unittest.TestCase):
    def test_only_named_features_are_looked_at_in_the_problem_s_order(self):
        normalizer = chosen_normalizer({"kind": (0, 2), "cost": (0, 0.5, 3)}, synthetic.PROBLEM)
        pieces = [(column.feature, column.start, column.end) for column in normalizer.columns]
        self.assertEqual(pieces, [("cost", 0.0, 0.5), ("cost", 0.5, 3.0), ("kind", 0.0, 2.0)])
        self.assertEqual(normalizer.dropped, ("constant", "progress"))
        self.assertEqual(Normalizer.from_json(normalizer.to_json()), normalizer)

    def test_what_cannot_be_knots_is_refused(self):
        with self.assertRaisesRegex(RunError, "names legal, and synthetic has cost, kind, constant, progress"):
            chosen_normalizer({"legal": (0, 1)}, synthetic.PROBLEM)
        for cuts in ((), (1,), (1, 1), (2, 1), (0, float("nan")), (0, float("inf"))):
            with self.assertRaisesRegex(RunError, "needs two or more finite values that increase"):
                chosen_normalizer({"cost": cuts}, synthetic.PROBLEM)


class LevelsTest(unittest.TestCase):
    def setUp(self):
        self.normalizer = synthetic.normalizer()

    def test_width_and_dropped_features(self):
        self.assertEqual(self.normalizer.dropped, ("constant",))
        self.assertEqual(self.normalizer.width, 4 + 2 + 4 + 1)

    def test_each_column_covers_its_segment(self):
        levels = _levels_of(self.normalizer, "cost", np.array([0, 0.125, 0.25, 0.3, 1, 7], np.float32))
        self.assertEqual(levels[:, 0].tolist(), [0, TOP_LEVEL // 2, TOP_LEVEL, TOP_LEVEL, TOP_LEVEL, TOP_LEVEL])
        self.assertEqual(levels[:4, 1].tolist(), [0, 0, 0, 38])

    def test_nan_and_infinity_are_the_highest_value(self):
        levels = _levels_of(self.normalizer, "cost", np.array([np.nan, np.inf, 1, -np.inf, -1], np.float32))
        self.assertTrue((levels[:3] == TOP_LEVEL).all())
        self.assertTrue((levels[3:] == 0).all())

    def test_integers_above_float32_precision_are_rounded_and_stay_in_order(self):
        levels = _levels_of(self.normalizer, "kind", np.array([-(2**62), 0, 1, 2, 2**24 + 1, 2**62], np.int64))
        self.assertEqual(levels[:, 0].tolist(), [0, 0] + [TOP_LEVEL] * 4)
        self.assertEqual(levels[:, 1].tolist(), [0, 0, 0] + [TOP_LEVEL] * 3)

    def test_the_last_position_is_marked(self):
        rows = {name: np.zeros(2, np.float32) for name in self.normalizer.features}
        levels = self.normalizer.levels(rows, np.array([False, True]))
        self.assertEqual(levels[:, -1].tolist(), [0, TOP_LEVEL])

    @given(st.lists(_ANY_FLOAT, min_size=1, max_size=50))
    @settings(max_examples=200, deadline=None)
    def test_levels_are_in_range_and_monotone(self, values):
        ordered = np.sort(np.array(values, np.float32))  # NaN last, which is also where levels put it.
        levels = _levels_of(self.normalizer, "cost", ordered).astype(int)
        self.assertTrue(((levels >= 0) & (levels <= TOP_LEVEL)).all())
        self.assertTrue((np.diff(levels, axis=0) >= 0).all())


class FilesTest(FolderCase):
    def setUp(self):
        super().setUp()
        for spec in synthetic.PROBLEM.observation_specs[1:]:
            self.file(f"{spec.name}.buckets", "0.0\n0.5\n1.0\n")

    def test_reads_a_vocabulary_without_the_mask(self):
        normalizer = load_normalizer(self.folder, synthetic.PROBLEM)
        self.assertEqual(normalizer.features, ("cost", "kind", "constant", "progress"))
        self.assertEqual(Normalizer.from_json(normalizer.to_json()), normalizer)

    def test_vocabularies_that_are_refused(self):
        self.file("cost.buckets", "0.0\nmany\n")
        with self.assertRaisesRegex(RunError, r"cost\.buckets: holds something that is not a number"):
            load_normalizer(self.folder, synthetic.PROBLEM)
        (self.folder / "cost.buckets").unlink()
        with self.assertRaisesRegex(RunError, r"cost\.buckets\): does not exist\. Make the vocabulary again"):
            load_normalizer(self.folder, synthetic.PROBLEM)
        constant = {spec.name: np.ones(3) for spec in synthetic.PROBLEM.observation_specs}
        with self.assertRaisesRegex(RunError, "no feature with two different values"):
            build_normalizer(constant, synthetic.PROBLEM)

    def test_json_of_something_else_is_refused(self):
        for value in ({}, {"problem": "p", "columns": [["f", 1.0, 1.0]], "dropped": [], "mark_last_position": True}):
            with self.assertRaisesRegex(ValueError, "not the description of a normaliser|is not finite and increasing"):
                Normalizer.from_json(value)
