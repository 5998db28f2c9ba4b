"""Repeats of compiles, with runners that end as each test says."""

import functools
import pathlib
import signal
import threading
from unittest import mock

from mlgo.compiler import attempts, machine, request
from mlgo.compiler.attempts import MAX_REPEATS, certain_outcome
from mlgo.compiler.compile import compile_module
from mlgo.compiler.process import Cancellation, Cancelled, ProcessOutcome
from mlgo.compiler.testing.scratch_case import FakeClangTestCase
from mlgo.run.exit_codes import RunError

GOOD, REFUSED = 0, 1
KILLED, TERMINATED, CRASHED, ABORTED = -signal.SIGKILL, -signal.SIGTERM, -signal.SIGSEGV, -signal.SIGABRT


class ScriptedRunner:
    """A Runner whose compiles end, one after the other, with the given exit codes or errors."""

    def __init__(self, *ends: int | tuple[int, str] | Exception):
        self.left = list(ends)

    def __call__(self, command_line, directory, limits, cancellation):
        end = self.left.pop(0)
        if isinstance(end, Exception):
            raise end
        code, said = end if isinstance(end, tuple) else (end, "")
        if code == GOOD:
            pathlib.Path(directory, "module.o").write_bytes(b"object")
        return ProcessOutcome(code, said, False, 0.0)


class AttemptsTestCase(FakeClangTestCase):
    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.object(attempts, "_PAUSES_SECONDS", (0.0,) * MAX_REPEATS))
        wanted = {"want_log": False, "want_object": True, "limits": request.CompileLimits()}
        (self.request,) = self.requests({"m": b"bitcode"}, None, **wanted)

    def outcome(self, *ends, first_attempt=None) -> request.CompileOutcome:
        """What such attempts come to; all of `ends` are used."""
        runner = ScriptedRunner(*ends)
        outcome = certain_outcome(self.request, None, runner, first_attempt)
        self.assertEqual(runner.left, [], outcome)
        return outcome

    def assert_failed(self, outcome, kind: request.FailureKind, exit_code: int | None, *repeats: str) -> None:
        self.assertIsInstance(outcome, request.CompileFailure)
        self.assertEqual((outcome.kind, outcome.exit_code, outcome.repeats), (kind, exit_code, repeats))

    def assert_good(self, outcome, *repeats: str) -> None:
        self.assertIsInstance(outcome, request.CompileResult, outcome)
        self.assertEqual((outcome.object_bytes, outcome.repeats), (b"object", repeats))


class FailureTest(AttemptsTestCase):
    def test_a_failure_counts_when_it_happens_twice(self):
        self.assert_failed(self.outcome(CRASHED, CRASHED), request.FailureKind.CRASH, CRASHED)

    def test_messages_need_not_be_the_same(self):
        outcome = self.outcome((REFUSED, "error at 0x1234"), (REFUSED, "error at 0x5678"))
        self.assert_failed(outcome, request.FailureKind.COMPILE_ERROR, REFUSED)
        assert isinstance(outcome, request.CompileFailure)
        self.assertIn("0x5678", outcome.detail)

    def test_a_second_success_is_the_result(self):
        self.assert_good(self.outcome(CRASHED, GOOD), "crash")

    def test_another_failure_leads_to_a_third_attempt(self):
        self.assert_good(self.outcome(CRASHED, ABORTED, GOOD), "crash", "crash")
        self.assert_failed(self.outcome(CRASHED, REFUSED, CRASHED), request.FailureKind.CRASH, CRASHED, "compile_error")

    def test_three_failures_of_three_kinds_are_a_failure_too(self):
        outcome = self.outcome(CRASHED, ABORTED, (REFUSED, "error: why"))
        self.assert_failed(outcome, request.FailureKind.UNSTABLE, None)
        assert isinstance(outcome, request.CompileFailure)
        self.assertIn("SIGSEGV; crash: SIGABRT; compile_error: exit code 1: error: why", outcome.detail)

    def test_what_fails_in_another_first_attempt_only_does_not_count(self):
        together = ScriptedRunner(CRASHED)
        first = functools.partial(compile_module, self.request, None, together)
        self.assert_good(self.outcome(GOOD, first_attempt=first), "crash")
        self.assertEqual(together.left, [])


class DisturbanceTest(AttemptsTestCase):
    def test_a_killed_compile_is_repeated(self):
        for signalled in (KILLED, TERMINATED, -signal.SIGHUP, -signal.SIGINT, -signal.SIGQUIT):
            name = signal.Signals(-signalled).name
            self.assert_good(self.outcome(signalled, GOOD), f"{name} from outside")
        self.assert_good(self.outcome(*[KILLED] * MAX_REPEATS, GOOD), *["SIGKILL from outside"] * MAX_REPEATS)

    def test_the_run_stops_when_every_attempt_is_killed(self):
        wrong = r"compile of m: was ended from outside 4 times, .* \(SIGKILL from outside\)\. .* the same command again"
        with self.assertRaisesRegex(RunError, wrong):
            self.outcome(*[KILLED] * (MAX_REPEATS + 1))

    def test_a_kill_is_no_failure_of_the_module(self):
        repeats = ("SIGKILL from outside", "SIGKILL from outside")
        self.assert_failed(self.outcome(KILLED, CRASHED, KILLED, CRASHED), request.FailureKind.CRASH, CRASHED, *repeats)

    def test_the_compile_server_ends(self):
        self.assert_good(
            self.outcome(request.CompileDisturbed("end of the compile server"), GOOD), "end of the compile server"
        )

    def test_a_process_cannot_be_started_now(self):
        for error in (BlockingIOError(11, "fork"), OSError(12, "fork"), OSError(24, "pipe"), MemoryError()):
            self.assertIsInstance(self.outcome(error, GOOD), request.CompileResult)
        short = "limited_exec: cannot start clang: Cannot allocate memory"
        self.assert_good(self.outcome((127, short), GOOD), "too few resources to start a compiler")

    def test_other_errors_of_this_process_are_not_repeated(self):
        with self.assertRaisesRegex(PermissionError, "fork"):
            self.outcome(PermissionError(13, "fork"))

    def test_disks(self):
        self.assert_good(self.outcome((1, "error: Input/output error"), GOOD), "Input/output error")
        with self.assertRaisesRegex(RunError, "no space is left there"):
            self.outcome((1, "error: IO failure on output stream: Disk quota exceeded"))

    def test_memory_that_the_machine_refuses(self):
        said = (ABORTED, "LLVM ERROR: out of memory")
        self.assert_failed(self.outcome(said, said), request.FailureKind.OUT_OF_MEMORY, None)
        with mock.patch.object(machine, "may_have_refused", lambda _: True):
            self.assert_good(self.outcome(said, said, GOOD), *["the machine has too little memory"] * 2)

    def test_limits_that_the_machine_does_not_provide_stop_the_run(self):
        wrong = "limits of this machine: its hard limit RLIMIT_AS is 1073741824, .*ulimit"
        with mock.patch("resource.getrlimit", lambda _: (1, 1 << 30)), self.assertRaisesRegex(RunError, wrong):
            self.outcome()

    def test_a_pause_ends_with_the_run(self):
        cancellation = Cancellation()

        def killed_at_the_end(*_):
            cancellation.trigger()
            return ProcessOutcome(KILLED, "", False, 0.0)

        with mock.patch.object(attempts, "_PAUSES_SECONDS", (3600.0,) * MAX_REPEATS), self.assertRaises(Cancelled):
            certain_outcome(self.request, cancellation, killed_at_the_end)


class AloneTest(AttemptsTestCase):
    def test_a_repeat_waits_for_the_others_and_keeps_others_waiting(self):
        killed, neighbour_runs, order = threading.Event(), threading.Event(), []

        def neighbour(*arguments):
            neighbour_runs.set()
            # It ends after the other compile was killed.
            self.assertTrue(killed.wait(30))
            order.append("neighbour")
            return ScriptedRunner(GOOD)(*arguments)

        def victim(*arguments):
            if not killed.is_set():
                self.assertTrue(neighbour_runs.wait(30))
                killed.set()
                return ScriptedRunner(KILLED)(*arguments)
            late = threading.Thread(target=certain_outcome, args=(self.request, None, latecomer))
            late.start()
            late.join(0.2)
            order.append("repeat")
            threads.append(late)
            return ScriptedRunner(GOOD)(*arguments)

        def latecomer(*arguments):
            order.append("latecomer")
            return ScriptedRunner(GOOD)(*arguments)

        threads = [threading.Thread(target=certain_outcome, args=(self.request, None, neighbour))]
        threads[0].start()
        self.assert_good(certain_outcome(self.request, None, victim), "SIGKILL from outside")
        for thread in threads:
            thread.join(30)
        self.assertEqual(order, ["neighbour", "repeat", "latecomer"])
