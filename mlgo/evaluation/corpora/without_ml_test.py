"""Which side shows what the compiler reaches by its own options."""

import unittest

from mlgo.evaluation.corpora.without_ml import best_without_ml, is_without_ml, without_ml_text


class WithoutMlTest(unittest.TestCase):
    def test_policies_are_none_of_these_sides(self):
        for side in ("threshold_5", "threshold_-5", "default_callee_saved_32768", "packaged_callee_saved_7"):
            self.assertTrue(is_without_ml(side), side)
        for side in ("default", "policy", "policy_callee_saved_32768", "allocations_18"):
            self.assertFalse(is_without_ml(side), side)

    def test_an_option_that_is_worse_than_the_default_is_not_the_best(self):
        self.assertEqual(best_without_ml({"threshold_5": 0.99, "threshold_9": 0.98, "policy": 0.9}), "threshold_9")
        self.assertEqual(best_without_ml({"threshold_5": 1.01, "threshold_9": 1.0, "policy": 0.9}), "default")
        self.assertIsNone(best_without_ml({"policy": 0.9}))

    def test_text(self):
        self.assertEqual(without_ml_text({"threshold_5": 0.99}), "; the same without ML: threshold_5 -1.00 %")
        self.assertIn("without ML: the default, for no option", without_ml_text({"threshold_5": 1.01}))
        self.assertEqual(without_ml_text({"policy": 0.9}), "")


if __name__ == "__main__":
    unittest.main()
