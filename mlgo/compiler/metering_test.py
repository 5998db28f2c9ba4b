"""Test of metering: what succeeded counts."""

import unittest

from mlgo.compiler.metering import MeteredExecutor
from mlgo.compiler.request import CompileFailure, CompileResult, FailureKind


class FakeExecutor:
    """Its compiles have the outcomes that it is given in place of requests."""

    closed = False

    def run_ordered(self, requests):
        yield from requests

    def close(self):
        self.closed = True


class MeteredExecutorTest(unittest.TestCase):
    def test_adds_up_what_succeeded(self):
        fake = FakeExecutor()
        metered = MeteredExecutor(fake)
        outcomes = [
            CompileResult("a", None, None, 1.5),
            CompileFailure("b", FailureKind.CRASH, "crashed"),
            CompileResult("c", None, None, 2.0),
        ]
        self.assertEqual(list(metered.run_ordered(outcomes)), outcomes)
        self.assertEqual(metered.cpu_seconds, 3.5)
        metered.close()
        self.assertTrue(fake.closed)


if __name__ == "__main__":
    unittest.main()
