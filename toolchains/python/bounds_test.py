"""Tests of the bounds of a program that downloads."""

import os
import sys
import unittest

from toolchains.python import bounds

LIMITS = bounds.Limits(window_seconds=300, least_bytes=600_000, least_cpu_seconds=3)


class ProgressTest(unittest.TestCase):
    def stalled_at(self, bytes_per_second, cpu_per_second=0.0):
        progress = bounds.Progress(LIMITS)
        for second in range(1000):
            if progress.stalled(second, int(bytes_per_second * second), cpu_per_second * second):
                return second
        return None

    def test_a_byte_a_second_is_a_stall(self):
        self.assertEqual(self.stalled_at(1), 300)

    def test_a_slow_line_and_a_busy_program_are_none(self):
        self.assertIsNone(self.stalled_at(2000))
        self.assertIsNone(self.stalled_at(0, cpu_per_second=0.5))

    def test_a_fast_beginning_does_not_excuse_the_rest(self):
        progress = bounds.Progress(LIMITS)
        progress.stalled(0, 0, 0)
        self.assertEqual([second for second in range(1, 400) if progress.stalled(second, 10**9, 9)][0], 301)


class RunTest(unittest.TestCase):
    def run_python(self, code, **limits):
        return bounds.run([sys.executable, "-c", code], dict(os.environ), bounds.Limits(look_seconds=0.005, **limits))

    def test_exit_code_and_output(self):
        done = self.run_python("import sys; print('a'); print('b', file=sys.stderr); sys.exit(3)")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "a\n", "b\n"))

    def test_a_program_that_waits_for_ever_is_ended(self):
        with self.assertRaisesRegex(bounds.StalledError, "less than 600 kB arrived in 0.1 s"):
            self.run_python("import threading; threading.Event().wait()", window_seconds=0.1, least_cpu_seconds=10)

    def test_folders_that_the_program_removes_are_no_error(self):
        code = (
            "import os, tempfile\n"
            "for _ in range(12):\n"
            "    folders = [tempfile.mkdtemp() for _ in range(100)]\n"
            "    for folder in folders: os.rmdir(folder)"
        )
        self.assertEqual(self.run_python(code, window_seconds=600).returncode, 0)

    def test_a_file_that_grows_for_ever_ends_at_the_limit(self):
        code = "import os, tempfile\nfile = tempfile.TemporaryFile()\nwhile True: file.write(bytes(10_000))"
        done = self.run_python(code, largest_file_bytes=1_000_000)
        self.assertEqual(done.returncode, 1)
        self.assertIn("File too large", done.stderr)


if __name__ == "__main__":
    unittest.main()
