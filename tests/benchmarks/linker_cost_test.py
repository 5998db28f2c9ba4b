"""The ratio of the linkers' benchmark."""

import unittest

from tests.benchmarks import linker_cost


class TotalRatioTest(unittest.TestCase):
    def test_large_programs_count_more(self):
        seconds = {"small": {"policy": 2.0, "packaged": 1.0}, "large": {"policy": 9.0, "packaged": 10.0}}
        self.assertEqual(linker_cost.total_ratio(seconds, "policy", "packaged"), 1.0)


if __name__ == "__main__":
    unittest.main()
