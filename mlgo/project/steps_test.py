"""How a program that ended is told of, the CPU time that steps may take, and lines of progress."""

import unittest

from mlgo.project.steps import Allowance, Budget, Ended, Progress

_CLANG = "clang: error: linker command failed with exit code 1 (use -v to see invocation)\n"


class StepsTest(unittest.TestCase):
    def test_the_first_error_is_the_linkers_own(self):
        for messages, reason in (
            (f"ld: warning: x has an error\n/usr/bin/ld: cannot find -lx\n{_CLANG}", "/usr/bin/ld: cannot find -lx"),
            (f"ld.lld: warning: y\nld.lld: error: z\n{_CLANG}", "ld.lld: error: z"),
            ("In file included from a.c:1:\na.h:1:1: error: z\n", "a.h:1:1: error: z"),
            (_CLANG, _CLANG.strip()),
            ("a.c:1:1: warning: y\n", "a.c:1:1: warning: y"),
            ("", "exit code 3"),
        ):
            self.assertEqual(Ended(3, 0.1, messages).reason, reason)

    def test_budget(self):
        budget = Budget(10.0)
        self.assertTrue(budget.reserve(6.0))
        self.assertFalse(budget.reserve(4.1))
        self.assertEqual(budget.left, 4.0)
        budget.settle(6.0, 7.0)
        self.assertEqual((budget.left, budget.spent), (3.0, 7.0))

    def test_a_small_project_may_take_seconds(self):
        default = Allowance(2.0, 20.0)
        self.assertEqual([default.of(seconds) for seconds in (0.0, 3.0, 30.0)], [20.0, 20.0, 60.0])
        self.assertEqual([Allowance(0.5).of(seconds) for seconds in (0.0, 30.0)], [0.5, 15.0])

    def test_a_line_at_most_every_ten_seconds(self):
        said: list[str] = []
        now = [100.0]
        progress = Progress(said.append, lambda: now[0])
        for now[0] in (101.0, 109.9, 110.0, 115.0, 119.9, 121.0):
            progress.at(f"at {now[0]}")
        self.assertEqual(said, ["at 110.0", "at 121.0"])
