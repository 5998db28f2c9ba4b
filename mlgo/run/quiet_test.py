import subprocess
import sys
import unittest

_PROGRAM = """
import os, sys
from mlgo.run.quiet import quiet_libraries
print("before", file=sys.stderr)
try:
    with quiet_libraries():
        print("python", file=sys.stderr)
        os.write(2, b"native\\n")
        {ending}
except ZeroDivisionError:
    pass
print("after", file=sys.stderr)
"""


def said(ending: str) -> list[str]:
    program = _PROGRAM.format(ending=ending)
    # -c with our own search path: the test's interpreter finds mlgo where this process does.
    command = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{program}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr.split()


class QuietTest(unittest.TestCase):
    def test_nothing_is_heard_of_a_block_that_ends_well(self):
        self.assertEqual(said("pass"), ["before", "after"])

    def test_everything_is_heard_of_a_block_that_fails(self):
        self.assertEqual(sorted(said("1 / 0")), ["after", "before", "native", "python"])
