import math
import unittest

from mlgo.training import curves


class CurvesTest(unittest.TestCase):
    def test_a_curve_of_one_validation_has_its_star(self):
        record = {"iteration": 0, "geometric_mean": 0.99, "low": 0.98, "high": 1.0, "modules": 4}
        curve = curves.validation_curve([record], 0)
        self.assertEqual(curve.star, curve.series[0].points[0])
        self.assertIn("Iteration 0 was chosen", curve.description)
        self.assertIsNone(curves.validation_curve([record], None).star)

    def test_the_learning_curve_has_training_and_validation_scores(self):
        validations = [
            {"iteration": step, "geometric_mean": mean, "low": mean - 0.01, "high": mean + 0.01, "modules": 4}
            for step, mean in ((0, 1.0), (2, 0.98))
        ]
        iterations = [{"iteration": step, "reward": {"mean": math.log(1.25)}} for step in (0, 1)]
        curve = curves.learning_curve(iterations, validations, 2)
        training, validation = curve.series
        self.assertEqual([step for step, _ in training.points], [0, 1])
        self.assertAlmostEqual(training.points[0][1], -20.0)
        self.assertAlmostEqual(validation.points[1][1], -2.0)
        self.assertIn("Chosen: iteration 2, the best of 2 (optimistic)", curve.caption)
        self.assertEqual(len(curves.learning_curve([], validations, 2).series), 1)

    def test_figures_that_were_not_recorded_are_not_drawn(self):
        self.assertIsNone(curves.reward_curve([{"iteration": 0}]))
        self.assertIsNone(curves.figure_curve([{"iteration": 0, "kl": 1.0}], "kl", "KL"))
        undefined = [{"iteration": 0, "kl": math.nan}, {"iteration": 1, "kl": math.inf}]
        self.assertIsNone(curves.figure_curve(undefined, "kl", "KL"))
