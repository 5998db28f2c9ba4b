import os
import pathlib
import sys
import tempfile
import threading

from mlgo.run import child
from mlgo.run.signals import KilledFromOutside
from mlgo.run.testing.folder_case import FolderCase


def _python(code, **more):
    with tempfile.TemporaryDirectory() as folder:
        return child.run([sys.executable, "-IS", "-c", code], pathlib.Path(folder), more.pop("seconds", 60), **more)


class ChildTest(FolderCase):
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
        code = "import sys; text = sys.stdin.read(); print(text); print(text, file=sys.stderr)"
        ended = _python(code, stdin=self.file("in", b"x" * 300_000))
        self.assertEqual((len(ended.output), len(ended.messages)), (300_001, 300_001))

    def test_one_that_does_not_end_or_is_killed_from_outside_or_is_not_there(self):
        with self.assertRaisesRegex(child.NotRun, "had not ended after 1 seconds"):
            _python("import time; time.sleep(600)", seconds=1)
        with self.assertRaisesRegex(KilledFromOutside, "was ended from outside, by SIGKILL"):
            _python("import os; os.kill(os.getpid(), 9)")
        with self.assertRaisesRegex(child.NotRun, "/absent does not run: No such file"):
            child.run(["/absent"], pathlib.Path("/"), 1)

    def test_in_parallel_keeps_the_order(self):
        said = child.in_parallel(2, lambda number: _python(f"print({number})").output, range(4))
        self.assertEqual(said, [b"0\n", b"1\n", b"2\n", b"3\n"])

    def test_after_a_failure_the_rest_is_stopped(self):
        ends = {}
        begun = threading.Barrier(3)

        def work(name):
            begun.wait()
            if name == "fails":
                raise ValueError(name)
            try:
                # What an item runs in parallel is stopped with it.
                child.in_parallel(1, _python, ["import time; time.sleep(600)"] * 2)
            except Exception as error:
                ends[name] = type(error)
                with self.assertRaises(child.Stopped):
                    _python("")
                raise

        with self.assertRaisesRegex(ValueError, "fails"):
            child.in_parallel(3, work, ["fails", "runs", "runs too"])
        self.assertEqual(sorted(ends), ["runs", "runs too"])
        self.assertLessEqual(set(ends.values()), {KilledFromOutside, child.Stopped})
        self.assertEqual(_python("print(1)").output, b"1\n")

    def test_a_failure_stops_nothing_of_other_work(self):
        begun, over = threading.Event(), threading.Event()

        def work(name):
            if name == "fails":
                begun.wait()
                with self.assertRaises(ZeroDivisionError):
                    child.in_parallel(2, lambda number: 1 // number, [0, 1])
                return over.set()
            pipe = self.folder / "pipe"
            os.mkfifo(pipe)

            def let_it_end():
                with open(pipe, "w"):  # It has begun when this returns.
                    begun.set()
                    over.wait()

            ends = threading.Thread(target=let_it_end)
            ends.start()
            ended = _python(f"print(repr(open({str(pipe)!r}).read()))")
            ends.join()
            return ended.output

        self.assertEqual(child.in_parallel(2, work, ["runs", "fails"]), [b"''\n", None])
