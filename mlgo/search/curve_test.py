"""Tests of curve: the sum over modules, and the picture."""

import unittest

from mlgo.search.corpus_search import ModuleResult
from mlgo.search.curve import curve, picture


def result(default: float, *steps: tuple[int, float]) -> ModuleResult:
    best = steps[-1][1]
    return ModuleResult(default, None, best, 3, 10, 20, True, steps, 0, 0, ())


class CurveTest(unittest.TestCase):
    def test_modules_add_up(self):
        modules = {"a": result(100.0, (1, 100.0), (4, 90.0)), "b": result(300.0, (1, 280.0), (4, 270.0), (9, 200.0))}
        self.assertEqual(curve(modules), [(0, 400.0, 0.0), (1, 380.0, -0.05), (4, 360.0, -0.1), (9, 290.0, -0.275)])

    def test_no_bytes_are_no_change(self):
        self.assertEqual(curve({"a": result(0.0, (1, 0.0))}), [(0, 0.0, 0.0), (1, 0.0, 0.0)])

    def test_equal_curves_give_equal_pictures(self):
        first, second = [(0, 400.0, 0.0), (1, 380.0, -0.05)], [(0, 400.0, 0.0), (1, 390.0, -0.025)]
        self.assertTrue(picture(first).startswith(b"\x89PNG"))
        self.assertEqual(picture(first), picture(list(first)))
        self.assertNotEqual(picture(first), picture(second))


if __name__ == "__main__":
    unittest.main()
