"""The source and the rows of the benchmark of huge functions."""

import unittest

from tests.benchmarks import huge_functions


class StraightLineTest(unittest.TestCase):
    def test_every_value_is_made_of_earlier_ones(self):
        text = huge_functions.straight_line(100)
        self.assertEqual(text.count("long v"), 100)
        self.assertEqual(text, huge_functions.straight_line(100))
        self.assertNotIn("v100", text)


class RowsTest(unittest.TestCase):
    def test_growth_is_that_of_the_ratio(self):
        seconds = {10: {"default": 1.0, "policy": 2.0}, 1000: {"default": 10.0, "policy": 30.0}}
        *ratios, growth = huge_functions.rows_of(seconds)
        self.assertEqual([row.value for row in ratios], [2.0, 3.0])
        self.assertEqual((growth.value, growth.held), (1.5, False))


if __name__ == "__main__":
    unittest.main()
