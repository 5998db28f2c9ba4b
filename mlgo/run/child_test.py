"""Child processes: results, limits and failures."""

import concurrent.futures
import pathlib
import sys
import tempfile
import time
import unittest

from mlgo.run import child
from mlgo.run.signals import KilledFromOutside


def _python(code, **more):
    with tempfile.TemporaryDirectory() as folder:
        return child.run([sys.executable, "-IS", "-c", code], pathlib.Path(folder), more.pop("seconds", 60), **more)


class ChildTest(unittest.TestCase):
    def test_output_messages_and_exit_code(self):
        ended = _python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
        self.assertEqual((ended.exit_code, ended.output, ended.messages), (3, b"out\n", "err\n"))
        self.assertEqual(ended.last_words(), "err")
        self.assertEqual(_python("import os; os.abort()").exit_code, -6)
        self.assertGreater(ended.memory_mb, 1)

    def test_the_environment_of_this_process_is_not_inherited(self):
        said = _python("import os; print(sorted(os.environ), os.listdir('.'))", environment={"MINE": "1"})
        self.assertIn(b"'LC_ALL', 'MINE', 'PATH', 'TZ'] []", said.output.replace(b"'LC_CTYPE', ", b""))
        self.assertEqual(_python("import sys; print(repr(sys.stdin.read()))").output, b"''\n")

    def test_long_input_and_output_pass(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "in")
            path.write_bytes(b"x" * 300_000)
            ended = _python(
                "import sys; text = sys.stdin.read(); print(text); print(text, file=sys.stderr)", stdin=path
            )
        self.assertEqual((len(ended.output), len(ended.messages)), (300_001, 300_001))

    def test_one_that_does_not_end_is_killed(self):
        with self.assertRaisesRegex(child.NotRun, "had not ended after 1 seconds"):
            _python("import time; time.sleep(600)", seconds=1)

    def test_one_that_is_killed_from_outside(self):
        with self.assertRaisesRegex(KilledFromOutside, "was ended from outside, by SIGKILL"):
            _python("import os; os.kill(os.getpid(), 9)")

    def test_all_are_stopped(self):
        with concurrent.futures.ThreadPoolExecutor() as pool, tempfile.TemporaryDirectory() as folder:
            begun = [pathlib.Path(folder, f"{number}") for number in range(2)]
            code = "import pathlib, sys, time; pathlib.Path(sys.argv[1]).touch(); time.sleep(600)"
            ends = [
                pool.submit(child.run, [sys.executable, "-IS", "-c", code, path], pathlib.Path(folder), 300)
                for path in begun
            ]
            while not all(path.exists() for path in begun):
                time.sleep(0.01)
            child.stop_all()
            for end in ends:
                self.assertIsInstance(end.exception(), KilledFromOutside)
        child.stop_all()

    def test_one_that_is_not_there(self):
        with self.assertRaisesRegex(child.NotRun, "/absent does not run: No such file"):
            child.run(["/absent"], pathlib.Path("/"), 1)


if __name__ == "__main__":
    unittest.main()
