import os
import shutil
import signal
import threading
import time
import unittest
from unittest import mock

from mlgo.compiler.executor import CountingExecutor, LocalExecutor
from mlgo.compiler.request import CompileFailure, CompileResult, FailureKind
from mlgo.compiler.testing.fake_clang import FakeModule
from mlgo.compiler.testing.scratch_case import FakeClangTestCase, comparable
from mlgo.run.exit_codes import RunError


class ExecutorTest(FakeClangTestCase):
    def test_results_come_in_order_and_do_not_depend_on_workers(self):
        modules = {
            f"m{index:02}": FakeModule.bitcode({f"f{index}": index % 4}, milliseconds=(index * 7 % 5) * 20)
            for index in range(20)
        }
        modules["m05"] = FakeModule.bitcode({}, "refuse")
        seen = []
        for workers in (1, 4):
            outcomes = list(LocalExecutor(workers).run_ordered(self.requests(modules)))
            self.assertEqual([outcome.module_name for outcome in outcomes], sorted(modules))
            seen.append(list(map(comparable, outcomes)))
        self.assertEqual(seen[0], seen[1])

    def test_requests_are_taken_as_they_are_needed(self):
        taken = []

        def endless():
            (request,) = self.requests({"m": FakeModule.bitcode({"f": 1})})
            while True:
                taken.append(request)
                yield request

        outcomes = LocalExecutor(2).run_ordered(endless())
        self.assertEqual(next(outcomes).module_name, "m")
        outcomes.close()
        self.assertLess(len(taken), 100)

    def test_closing_kills_what_runs(self):
        modules = {name: FakeModule.bitcode({}, "good" if name == "a" else "hang") for name in "abc"}
        outcomes = LocalExecutor(3).run_ordered(self.requests(modules))
        self.assertEqual(next(outcomes).module_name, "a")
        outcomes.close()
        self.assertEqual(list(self.work.iterdir()), [])

    def test_keyboard_interrupt_kills_what_runs_and_propagates(self):
        modules = dict.fromkeys("abcd", FakeModule.bitcode({}, "hang_with_grandchild"))
        main_thread = threading.main_thread().ident
        assert main_thread is not None

        def interrupt():
            while len(list(self.work.iterdir())) < 2:
                time.sleep(0.01)
            signal.pthread_kill(main_thread, signal.SIGINT)

        interrupter = threading.Thread(target=interrupt)
        interrupter.start()
        with self.assertRaises(KeyboardInterrupt):
            list(LocalExecutor(2).run_ordered(self.requests(modules)))
        interrupter.join()
        self.assertEqual(list(self.work.iterdir()), [])

    def test_interrupted_while_a_worker_is_starting(self):
        start = threading.Thread.start

        def interrupted_start(thread):
            start(thread)
            if thread.name == "compile_1":
                while len(list(self.work.iterdir())) < 2:
                    time.sleep(0.01)
                raise KeyboardInterrupt

        remove = shutil.rmtree

        def slow_remove(*arguments, **options):
            # The interrupted pool does not know this thread; without this it would usually be in time by chance.
            if threading.current_thread().name == "compile_1":
                time.sleep(0.5)
            remove(*arguments, **options)

        modules = dict.fromkeys("abcd", FakeModule.bitcode({}, "hang"))
        with (
            mock.patch.object(threading.Thread, "start", interrupted_start),
            mock.patch.object(shutil, "rmtree", slow_remove),
            self.assertRaises(KeyboardInterrupt),
        ):
            list(LocalExecutor(2).run_ordered(self.requests(modules)))
        self.assertEqual(list(self.work.iterdir()), [])

    def test_a_missing_compiler_ends_the_run_at_once(self):
        os.unlink(self.clang)
        with self.assertRaisesRegex(RunError, "cannot be started"):
            list(LocalExecutor(2).run_ordered(self.requests(dict.fromkeys("abcde", FakeModule.bitcode({})))))


class FakeExecutor:
    """Its compiles have the outcomes that it is given in place of requests."""

    closed = False

    def run_ordered(self, requests):
        yield from requests

    def close(self):
        self.closed = True


def result(*repeats: str, cpu_seconds: float = 0.0) -> CompileResult:
    return CompileResult("m", None, b"", cpu_seconds, repeats=repeats)


def failure(*repeats: str) -> CompileFailure:
    return CompileFailure("m", FailureKind.CRASH, "crashed", repeats=repeats)


class CountingExecutorTest(unittest.TestCase):
    def told_by(self, *outcomes) -> list[str]:
        """What is told at the end of compiles with `outcomes`."""
        told: list[str] = []
        behind = FakeExecutor()
        self.executor = CountingExecutor(behind, told.append)
        self.assertEqual(list(self.executor.run_ordered(outcomes)), list(outcomes))
        self.assertEqual(told, [])
        self.executor.close()
        self.assertTrue(behind.closed)
        return told

    def test_cpu_time_of_what_succeeded(self):
        self.told_by(result(cpu_seconds=1.5), failure(), result(cpu_seconds=2.0))
        self.assertEqual(self.executor.cpu_seconds, 3.5)

    def test_one_line_and_only_when_any_were_repeated(self):
        self.assertEqual(self.told_by(result(), failure()), [])
        told = self.told_by(result(), result("SIGKILL from outside", "crash"), failure("SIGKILL from outside"))
        self.assertEqual(told, ["repeated 2 compiles (SIGKILL from outside 2, crash 1); results do not change"])
