"""The line that says how many compiles were repeated."""

import unittest

from mlgo.compiler.repeats import CountingExecutor, Repeats
from mlgo.compiler.request import CompileFailure, CompileResult, FailureKind


class FakeExecutor:
    """Hands out the given outcomes."""

    def __init__(self, outcomes):
        self._outcomes = outcomes
        self.closed = False

    def run_ordered(self, requests):
        self._requests = list(requests)
        yield from self._outcomes

    def close(self):
        self.closed = True


def result(*repeats: str) -> CompileResult:
    return CompileResult("m", None, b"", 0.0, repeats=repeats)


class RepeatsTest(unittest.TestCase):
    def test_counts(self):
        repeats = Repeats()
        self.assertIsNone(repeats.describe())
        for outcome in (
            result(),
            result("SIGKILL from outside", "crash"),
            CompileFailure("m", FailureKind.CRASH, "", repeats=("SIGKILL from outside",)),
        ):
            repeats.add(outcome)
        self.assertEqual(
            repeats.describe(), "repeated 2 compiles (SIGKILL from outside 2, crash 1); results do not change"
        )

    def told_by(self, outcomes) -> list[str]:
        told, behind = [], FakeExecutor(outcomes)
        executor = CountingExecutor(behind, told.append)
        self.assertEqual(list(executor.run_ordered([])), outcomes)
        self.assertEqual(told, [])
        executor.close()
        self.assertTrue(behind.closed)
        return told

    def test_one_line_and_only_when_any_were_repeated(self):
        self.assertEqual(self.told_by([result(), result()]), [])
        self.assertEqual(
            self.told_by([result(), result("crash")]), ["repeated 1 compiles (crash 1); results do not change"]
        )


if __name__ == "__main__":
    unittest.main()
