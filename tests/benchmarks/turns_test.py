"""The turns of benchmarks."""

import functools
import subprocess
import sys
import unittest

from tests.benchmarks import turns


class CheapestTest(unittest.TestCase):
    def test_the_order_turns_around_and_the_least_counts(self):
        order: list[str] = []
        costs = iter([3.0, 8.0, 7.0, 2.0, 5.0, 6.0, 9.0, 4.0, 5.0, 5.0])

        def cost(work):
            work()
            return next(costs)

        found = turns.cheapest({name: functools.partial(order.append, name) for name in "ab"}, cost)
        self.assertEqual("".join(order), "abbaabbaab")
        self.assertEqual(found, {"a": 2.0, "b": 5.0})


class CpuSecondsTest(unittest.TestCase):
    def test_what_a_child_uses_counts(self):
        spin = "import time\nwhile time.process_time() < 0.3: pass"
        used = turns.cpu_seconds_of(lambda: subprocess.run([sys.executable, "-S", "-c", spin], check=True))
        self.assertGreaterEqual(used, 0.3)


if __name__ == "__main__":
    unittest.main()
