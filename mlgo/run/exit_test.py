import contextlib
import io
import os
import signal
import subprocess
import sys
import unittest

from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import ExitCode, RunError

_PATHS = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


class EndingTest(unittest.TestCase):
    def ends(self, work, code, said=""):
        stderr = io.StringIO()
        with contextlib.redirect_stderr(stderr):
            self.assertEqual(exit_code_of(work), code)
        self.assertEqual(stderr.getvalue(), said)

    def test_codes(self):
        def fails():
            raise RunError("--x=1", "is odd", "Give an even one", ExitCode.NOTHING_PRODUCED)

        def is_ended():
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()

        self.addCleanup(signal.signal, signal.SIGTERM, signal.getsignal(signal.SIGTERM))
        self.ends(lambda: ExitCode.OUTPUT_DIFFERS, 12)
        self.ends(fails, 10, "error: --x=1: is odd. Give an even one\n")
        self.ends(is_ended, 130, "interrupted\n")
        with self.assertRaises(ZeroDivisionError):  # a defect: the traceback is shown
            exit_code_of(lambda: 1 // 0)

    def test_a_name_cannot_command_the_terminal(self):
        def fails():
            raise RunError("module \x1b[2J\rb", "was\nerror: damaged", "Restore it")

        self.ends(fails, 2, r"error: module \x1b[2J\rb: was" + "\n  error: damaged. Restore it\n")

    def test_the_reader_closes_the_pipe(self):
        work = "lambda: print('x' * 10**6) or 0"
        program = f"import sys; from mlgo.run.exit import exit_code_of; sys.exit(exit_code_of({work}))"
        pipe, command = subprocess.PIPE, [sys.executable, "-c", program]
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, env=_PATHS) as process:
            assert process.stdout is not None and process.stderr is not None
            process.stdout.read(1)
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
        self.assertEqual(process.returncode, ExitCode.DONE)

    def test_results_name_any_file_in_any_locale(self):
        name = b"/\xff/\xc3\xa4/a"
        program = "import os, sys; from mlgo.run.exit import exit_code_of; "
        program += f"sys.exit(exit_code_of(lambda: print(os.fsdecode({name!r}))))"
        for encoding, printed in (("utf-8", name), ("ascii", b"/\xff/\\xe4/a"), ("iso-8859-1", b"/\xff/\xe4/a")):
            environment = {**_PATHS, "PYTHONUTF8": "1", "PYTHONIOENCODING": f"{encoding}:strict"}
            done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=False)
            with self.subTest(encoding=encoding):
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, printed + b"\n", b""))
