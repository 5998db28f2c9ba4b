"""Tests of how a program that ended is told of."""

import unittest

from mlgo.project.child import Ended

_CLANG = "clang: error: linker command failed with exit code 1 (use -v to see invocation)\n"


class ChildTest(unittest.TestCase):
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


if __name__ == "__main__":
    unittest.main()
