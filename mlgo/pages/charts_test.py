import math
import unittest
import xml.etree.ElementTree

from hypothesis import assume, example, given, settings, strategies

from mlgo.pages.change import Change, Tone
from mlgo.pages.charts import Band, Forest, ForestRow, Lines, RankedBar, Ranking, Scale, Series
from mlgo.pages.numbers import number
from mlgo.pages.rendering import svg

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
        found = [mark.label for mark in Scale.around([0.0, 0.93], 5).ticks()]
        self.assertEqual(found, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"])
        found = [mark.label for mark in Scale.around([-7.0, 3.0], 4).ticks(signed=True)]
        self.assertEqual(found, ["−10", "−5", "0", "+5"])

    def test_up_is_up(self):
        scale = Scale(0.0, 10.0, 5.0)
        self.assertEqual((scale.at(2.5), scale.from_top(2.5)), (25.0, 75.0))

    def test_no_scale_is_refused(self):
        for low, high in ((1.0, 1.0), (2.0, 1.0), (0.0, math.inf), (math.nan, 1.0)):
            with self.assertRaisesRegex(ValueError, "no scale goes from"):
                Scale(low, high, 1.0)

    def test_number_format(self):
        self.assertEqual(number(-1234567.0, 0), "−1\u202f234\u202f567")
        found = (number(-0.001, 2, True), number(0.5, 1, True), number(0.0, 2, True))
        self.assertEqual(found, ("0.00", "+0.5", "0.00"))


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


class ChartsTest(unittest.TestCase):
    @settings(deadline=None)
    @given(strategies.lists(strategies.tuples(_VALUES, _VALUES, _VALUES), min_size=1, max_size=6))
    def test_intervals_lie_in_the_chart_around_their_dot(self, figures):
        changes = [Change(middle, low, high) for low, middle, high in map(sorted, figures)]
        rows = [ForestRow("g", str(index), "", change, True) for index, change in enumerate(changes)]
        scale = Forest("x", rows).scale
        for change in changes:
            self.assertTrue(0.0 <= scale.at(change.low) <= scale.at(change.percent) <= scale.at(change.high) <= 100.0)

    def test_lines_hold_their_bands_and_zero(self):
        line = Series("a", [(2, 5.0), (4, 6.0)], "main")
        chart = Lines("c", "d", [line], [Band("b", [(2, 4.0)], [(2, 9.0)], "interval")])
        self.assertEqual([chart.place((x, 0.0)) for x in (2, 3, 4)], [(0.0, 100.0), (50.0, 100.0), (100.0, 100.0)])
        self.assertEqual(chart.place((2, 10.0)), (0.0, 0.0))
        self.assertEqual(chart.zero, 100.0)
        self.assertIsNone(Lines("c", "d", [line], percent=False).zero)

    @settings(deadline=None)
    @given(strategies.lists(strategies.floats(0.0, 1.0), min_size=1, max_size=30))
    def test_a_ranking_fits(self, shares):
        assume(any(shares))
        ranking = Ranking("x", [RankedBar(f"f{index}", share) for index, share in enumerate(shares)])
        widths = [ranking.width(share) for share in shares]
        self.assertEqual(max(widths), 100.0)
        self.assertGreaterEqual(min(widths), 0.0)

    def test_an_image_file_is_well_formed_and_names_are_text(self):
        chart = Lines("<script>", "&", [Series("<b>", [(0, 1.0), (1, 2.0)], "main", ["<i>", ""])], star=(1, 2.0))
        image = xml.etree.ElementTree.fromstring(svg(chart))
        self.assertEqual(image.tag, "{http://www.w3.org/2000/svg}svg")
        self.assertEqual({each.tag.rpartition("}")[2] for each in image.iter()} & {"script", "b", "i"}, set())
        self.assertIn("<script>", [each.text for each in image.iter()])
