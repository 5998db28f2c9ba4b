"""Positions, ticks and bins of drawings."""

import math
import unittest

from hypothesis import assume, example, given, settings, strategies

from mlgo.reporting import drawings
from mlgo.reporting.page import Change, Tone
from mlgo.reporting.scale import Scale, number

_VALUES = strategies.floats(-1e9, 1e9)


class ScaleTest(unittest.TestCase):
    @settings(deadline=None)
    @example([5e-324], 2)
    @given(strategies.lists(_VALUES, min_size=1), strategies.integers(2, 8))
    def test_it_holds_everything_with_few_round_ticks(self, values, ticks):
        scale = Scale.around(values, ticks)
        self.assertTrue(all(0.0 <= scale.at(value) <= 100.0 for value in values))
        marks = scale.ticks()
        self.assertTrue(2 <= len(marks) <= ticks + 3, marks)
        self.assertEqual([mark.at for mark in marks], sorted(mark.at for mark in marks))

    def test_ticks_are_at_one_two_five(self):
        self.assertEqual(
            [mark.label for mark in Scale.around([0.0, 0.93], 5).ticks()], ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        )
        self.assertEqual(
            [mark.label for mark in Scale.around([-7.0, 3.0], 4).ticks(signed=True)], ["−10", "−5", "0", "+5"]
        )

    def test_up_is_up(self):
        scale = Scale(0.0, 10.0, 5.0)
        self.assertEqual((scale.at(2.5), scale.from_top(2.5)), (25.0, 75.0))

    def test_no_scale_is_refused(self):
        for low, high in ((1.0, 1.0), (2.0, 1.0), (0.0, math.inf), (math.nan, 1.0)):
            with self.assertRaisesRegex(ValueError, "no scale goes from"):
                Scale(low, high, 1.0)

    def test_number_format(self):
        self.assertEqual(number(-1234567.0, 0), "−1\u202f234\u202f567")
        self.assertEqual(
            (number(-0.001, 2, True), number(0.5, 1, True), number(0.0, 2, True)), ("0.00", "+0.5", "0.00")
        )


class ChangeTest(unittest.TestCase):
    def test_the_interval_decides(self):
        for low, high, tone, words in (
            (-2.0, -1.0, Tone.BETTER, "better"),
            (1.0, 2.0, Tone.WORSE, "worse"),
            (-1.0, 1.0, Tone.EQUAL, "not known to differ"),
            (0.0, 0.0, Tone.EQUAL, "not known to differ"),
            (-1.0, 0.0, Tone.EQUAL, "not known to differ"),
        ):
            change = Change((low + high) / 2, low, high)
            self.assertEqual((change.tone, change.verdict), (tone, words))


class DrawingsTest(unittest.TestCase):
    @settings(deadline=None)
    @given(strategies.lists(strategies.floats(0.01, 100.0), min_size=1, max_size=50))
    def test_every_ratio_is_in_one_bar_of_its_side(self, ratios):
        bars = drawings.distribution(ratios, "functions", "x").bars
        counts = {
            tone: sum(int(bar.title.rpartition(": ")[2].split()[0]) for bar in bars if bar.tone is tone)
            for tone in Tone
        }
        self.assertEqual(counts[Tone.BETTER], sum(ratio < 1.0 for ratio in ratios))
        self.assertEqual(counts[Tone.EQUAL], sum(ratio == 1.0 for ratio in ratios))
        self.assertEqual(counts[Tone.WORSE], sum(ratio > 1.0 for ratio in ratios))

    def test_bars_stand_where_their_changes_are(self):
        for ratio, name in (
            (0.5, "more than 20 % better"),
            (0.985, "−2 to −1 %"),
            (1.0, "equal to the default"),
            (1.003, "0.0 to +0.5 %"),
            (9.0, "more than 20 % worse"),
        ):
            bars = [bar for bar in drawings.distribution([ratio], "modules", "x").bars if bar.height]
            self.assertEqual([bar.title.rpartition(": ")[0] for bar in bars], [name])

    @settings(deadline=None)
    @given(strategies.lists(strategies.tuples(_VALUES, _VALUES, _VALUES), min_size=1, max_size=6))
    def test_intervals_lie_in_the_drawing_around_their_dot(self, figures):
        rows = [
            ("g", str(index), "", Change(middle, low, high), True)
            for index, (low, middle, high) in enumerate(map(sorted, figures))
        ]
        for row in drawings.forest("x", rows).rows:
            self.assertTrue(0.0 <= row.left <= row.dot <= row.right <= 100.0)

    def test_a_group_is_named_once(self):
        rows = [(group, "side", "", Change(0.0, -1.0, 1.0), True) for group in ("a", "a", "b")]
        self.assertEqual([row.group for row in drawings.forest("x", rows).rows], ["a", "", "b"])

    def test_a_curve_of_one_validation_has_its_star(self):
        record = {"iteration": 0, "geometric_mean": 0.99, "low": 0.98, "high": 1.0, "modules": 4}
        curve = drawings.validation_curve([record], 0)
        self.assertEqual(curve.star, curve.series[0].points[0])
        self.assertIn("Iteration 0 was chosen", curve.description)
        self.assertIsNone(drawings.validation_curve([record], None).star)

    def test_figures_that_were_not_recorded_are_not_drawn(self):
        self.assertIsNone(drawings.reward_curve([{"iteration": 0}]))
        self.assertIsNone(drawings.figure_curve([{"iteration": 0, "kl": 1.0}], "kl", "KL"))
        self.assertIsNone(
            drawings.figure_curve([{"iteration": 0, "kl": math.nan}, {"iteration": 1, "kl": math.inf}], "kl", "KL")
        )

    @settings(deadline=None)
    @given(strategies.lists(strategies.floats(0.0, 1.0), min_size=1, max_size=30))
    def test_a_ranking_is_sorted_and_fits(self, shares):
        assume(any(shares))
        bars = drawings.ranking("x", [(f"f{index}", share, None, None) for index, share in enumerate(shares)], 20).bars
        self.assertEqual(len(bars), min(20, len(shares)))
        self.assertEqual([bar.width for bar in bars], sorted((bar.width for bar in bars), reverse=True))
        self.assertEqual(bars[0].width, 100.0)


if __name__ == "__main__":
    unittest.main()
