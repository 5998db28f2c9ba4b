"""The CSV file of a policy's scores beside the default's."""

import unittest

from mlgo.score.function_scores import FunctionScore
from mlgo.training.default_trace import performance_csv


class PerformanceCsvTest(unittest.TestCase):
    def test_functions_with_scores_on_both_sides_sorted(self):
        both = {"g": FunctionScore(1, 2.5), "only": FunctionScore(1, 1.0)}
        default = {"b.c": both, "a.c": {"": FunctionScore(0, 10)}}
        found = {"a.c": {"": FunctionScore(0, 9)}, "b.c": {"g": FunctionScore(1, 2.0)}}
        rows = performance_csv(default, found).decode().splitlines()
        self.assertEqual(rows, ["module,function,default_score,score", "a.c,,10,9", "b.c,g,2.5,2.0"])
