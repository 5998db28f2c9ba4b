"""What the benchmark reads from /proc."""

import unittest

from tests.benchmarks.release_clang import children_cpu_seconds

# proc(5): pid (comm) state, then fields 4 to 17: ..., 14 utime, 15 stime, 16 cutime, 17 cstime.
STAT = "4711 (bazel (main) ) S 1 2 3 4 5 6 7 8 9 10 1400 1500 250 50 20 0"


class ChildrenCpuSecondsTest(unittest.TestCase):
    def test_own_time_does_not_count(self):
        self.assertEqual(children_cpu_seconds(STAT), 3.0)


if __name__ == "__main__":
    unittest.main()
