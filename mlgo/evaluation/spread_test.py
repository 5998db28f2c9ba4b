"""The worst program, and the mean without the best."""

import unittest

from mlgo.evaluation.spread import spread_of


class SpreadTest(unittest.TestCase):
    def test_known_answers(self):
        found = spread_of({"a": 0.98, "brotli": 0.5, "bzip2": 1.029, "b": 0.98}, seed=1)
        # Logarithms of a, b and bzip2: -0.02020, -0.02020, +0.02859; standard error 0.01626, Student's point 4.303.
        self.assertEqual(found.text(), "worst bzip2 +2.90 %; without brotli, the best, -0.39 % [-7.12, +6.83]")

    def test_of_two_there_is_no_mean_without_the_best(self):
        self.assertEqual(spread_of({"a": 0.98, "b": 0.97}, seed=1).text(), "worst a -2.00 %")
        self.assertIsNone(spread_of({"a": 0.98}, seed=1))


if __name__ == "__main__":
    unittest.main()
