"""Flags and side names of thresholds."""

import unittest

from mlgo.evaluation.corpora.inline_thresholds import threshold_flags, threshold_of
from mlgo.run.exit_codes import RunError


class InlineThresholdsTest(unittest.TestCase):
    def test_flags_in_the_given_order_each_once(self):
        flags = threshold_flags(["25", "-5", "25"], "inline-threshold")
        self.assertEqual(
            list(flags.items()),
            [
                ("threshold_25", ("-mllvm", "-inline-threshold=25")),
                ("threshold_-5", ("-mllvm", "-inline-threshold=-5")),
            ],
        )
        self.assertEqual([threshold_of(side) for side in flags], ["25", "-5"])

    def test_other_sides(self):
        self.assertIsNone(threshold_of("default"))
        self.assertEqual(threshold_flags([], "inline-threshold"), {})

    def test_values_that_are_not_numbers_are_refused(self):
        for wrong in ("many", "", "5.0", "1234567", " 5"):
            with self.assertRaisesRegex(RunError, f"holds '{wrong}'"):
                threshold_flags(["5", wrong], "inline-threshold")


if __name__ == "__main__":
    unittest.main()
