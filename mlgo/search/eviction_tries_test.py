"""Tests of the tries of eviction_search."""

import unittest

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlgo.search.eviction_search import TryLimits, flips_per_root_cost

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
costs = st.lists(st.floats(0.0, 2.0**90, width=32), max_size=5)


def tries_of(tries, found, factor) -> list[int]:
    """Of all functions."""
    limits = {name: TryLimits.of_average(tries[name]) for name in found}
    return [
        limits[name].noisy + limits[name].flips + limits[name].more_flips_of(cost, factor)
        for name in sorted(found)
        for cost in found[name]
    ]


class EvictionTriesTest(unittest.TestCase):
    def test_costly_functions_get_more(self):
        tries, found = {"a": 24, "b": 24}, {"a": [100.0, 1.0], "b": [25.0, 0.0]}
        self.assertEqual(tries_of(tries, found, flips_per_root_cost(tries, found)), [36, 18, 26, 16])

    def test_equal_costs_share_equally(self):
        tries, found = {"a": 24}, {"a": [3.0, 3.0, 3.0]}
        self.assertEqual(tries_of(tries, found, flips_per_root_cost(tries, found)), [24, 24, 24])

    def test_no_function_takes_all(self):
        tries, found = {"a": 24}, {"a": [1e12, *[1.0] * 20]}
        self.assertEqual(max(tries_of(tries, found, flips_per_root_cost(tries, found))), 96)

    @UNHURRIED
    @given(st.dictionaries(st.sampled_from("abc"), costs), st.integers(1, 200))
    def test_the_sum_is_kept(self, found, each):
        tries = dict.fromkeys(found, each)
        spent = tries_of(tries, found, flips_per_root_cost(tries, found))
        self.assertLessEqual(sum(spent), each * len(spent))
        self.assertTrue(all(2 * each // 3 <= one <= 4 * each for one in spent))


if __name__ == "__main__":
    unittest.main()
