import math
import types
import unittest

import hypothesis
from hypothesis import strategies

from mlgo.run.exit_codes import RunError
from mlgo.search.budget import Budget, estimated_seconds, split_budget


def modules(*sizes):
    """Modules of bytes that are no bitcode, which count as code."""
    return [
        types.SimpleNamespace(name=f"m{index}", read_bitcode=lambda size=size: bytes(size))
        for index, size in enumerate(sizes)
    ]


class BudgetTest(unittest.TestCase):
    def test_without_seconds_and_with_many_the_number_of_compiles_holds(self):
        for budget in (Budget(7), Budget(7, 1e9)):
            self.assertEqual(budget.compiles_of(modules(10, 10**7), 2), {"m0": 7, "m1": 7})

    def test_what_is_left_goes_to_the_largest(self):
        corpus = modules(1000, 10**6)
        small, large = map(estimated_seconds, corpus)
        # One compile of each besides the search's, and five for the search.
        budget = 6 * (small + large)
        found = Budget(70, budget + 1.001 * large).compiles_of(corpus, 1)
        self.assertEqual(found, {"m0": 5, "m1": 6})

    def test_too_few_seconds(self):
        corpus = modules(10**6, 10**6)
        wrong = r"--budget=1: is not enough to search 2 modules.*Give at least (\d+)"
        with self.assertRaisesRegex(RunError, wrong) as raised:
            Budget(70, 1).compiles_of(corpus, 3)
        least = int(str(raised.exception).rpartition(" ")[2])
        self.assertEqual(set(Budget(70, least).compiles_of(corpus, 3).values()), {2})

    def test_a_refinement_takes_two_fifths_unless_they_are_few(self):
        self.assertEqual(split_budget({"a": 70, "b": 71}), ({"a": 42, "b": 43}, {"a": 28, "b": 28}))
        self.assertEqual(split_budget({"a": 5, "b": 4}), ({"a": 5, "b": 4}, {}))
        self.assertEqual(split_budget({"a": 5}), ({"a": 3}, {"a": 2}))

    @hypothesis.settings(derandomize=True, deadline=None)
    @hypothesis.given(
        strategies.lists(strategies.integers(1, 10**6), min_size=1, max_size=20),
        strategies.floats(1e4, 1e6),
        strategies.integers(0, 3),
    )
    def test_the_estimate_stays_within_the_budget(self, sizes, seconds, others):
        corpus = modules(*sizes)
        found = Budget(70, seconds).compiles_of(corpus, others)
        used = math.fsum((others + found[each.name]) * estimated_seconds(each) for each in corpus)
        self.assertLessEqual(used, seconds * (1 + 1e-9))
        self.assertLessEqual(max(found.values()), 70)
        if max(found.values()) < 70:
            dearest = max(estimated_seconds(each) for each in corpus)
            self.assertGreater(used + dearest, seconds * (1 - 1e-9))
