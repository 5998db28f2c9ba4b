"""Tests of mlgo.pipeline.collection; compiling itself is tested end to end."""

import unittest

from mlgo.pipeline.collection import centred


class CentredTest(unittest.TestCase):
    def test_each_value_is_compared_with_the_other_samples(self):
        samples = [{"f": 0.3, "g": 1.0}, {"f": 0.0, "g": 1.0}, {"f": 0.0}]
        found = centred(samples)
        self.assertEqual([sorted(sample) for sample in found], [["f", "g"], ["f", "g"], ["f"]])
        for sample, expected in zip(found, (0.3, -0.15, -0.15), strict=True):
            self.assertAlmostEqual(sample["f"], expected)
        self.assertEqual(found[0]["g"], 0.0)

    def test_function_of_a_single_sample_has_nothing_to_compare_with(self):
        self.assertEqual(centred([{"f": 1.0}, {}]), [{}, {}])
        self.assertEqual(centred([]), [])


if __name__ == "__main__":
    unittest.main()
