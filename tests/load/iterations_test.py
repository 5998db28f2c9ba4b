"""Twice as many iterations leave as many files, descriptors, threads and objects behind as half of them."""

import pathlib
import tracemalloc
import unittest

from mlgo.compiler.scratch import scratch_directory
from mlgo.run import determinism
from tests.load.iterations import ManyIterations

#: What is made once has mostly been made after these; then twice as many follow.
_WARM_UP = 40
_ITERATIONS = 3 * _WARM_UP
#: Bytes that Python may hold more after each further iteration: less than the figures of one take.
_BYTES_EACH = 500


class IterationsTest(unittest.TestCase):
    def check(self, problem: str):
        folder = pathlib.Path(self.enterContext(scratch_directory()))
        iterations = ManyIterations(folder, problem, _ITERATIONS)
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        first, middle, last = iterations.run(_WARM_UP)
        for name in ("files", "descriptors", "threads"):
            self.assertEqual(getattr(first, name), getattr(last, name), name)
        # A leak grows in both halves. What is made once, such as a library's cache, grows in one of them.
        grown = min(middle.python_bytes - first.python_bytes, last.python_bytes - middle.python_bytes)
        self.assertLess(grown, _BYTES_EACH * _WARM_UP)

    def test_eviction(self):
        self.check("regalloc_eviction")

    def test_inlining(self):
        self.check("inlining_for_size")


if __name__ == "__main__":
    determinism.configure_tensorflow()
    unittest.main()
