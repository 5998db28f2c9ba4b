"""Interactive compiles against the fake clang: every way they can end, and that nothing is ever left."""

import dataclasses
import gc
import os
import signal
import threading
from unittest import mock

import numpy as np

from mlgo.compiler import attempts
from mlgo.compiler.interactive import InteractiveCompile
from mlgo.compiler.interactive_stream import WrongAnswerError
from mlgo.compiler.request import CompileFailure, CompileLimits, CompileRequest, CompileResult, FailureKind
from mlgo.compiler.testing import fake_clang
from mlgo.compiler.testing.scratch_case import FakeClangTestCase
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.problem import Problem
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.problems.regalloc_priority.problem import PROBLEM as PRIORITY
from mlgo.run.exit_codes import RunError

FUNCTIONS = {"f": 3, "empty": 0, "g": 2}


def first_legal(features) -> int:
    return int(features["mask"].argmax())


POLICIES = {
    EVICTION: first_legal,
    INLINING: lambda features: features["node_count"] > 1,
    PRIORITY: lambda features: features["weight"],
}


class InteractiveTestCase(FakeClangTestCase):
    def request(self, behaviour: str = "good", problem: Problem = EVICTION, **changes) -> CompileRequest:
        fake_clang.install(self.root, problem)
        modules = {"a/b.c": fake_clang.FakeModule.bitcode(FUNCTIONS, behaviour)}
        (request,) = self.requests(modules, problem, **{"want_log": False, "want_object": True, **changes})
        return request

    def run_all(self, request: CompileRequest, policy=None, **options):
        """Compiles to the end; returns the outcome and (context, number) of every observation."""
        assert request.problem is not None
        policy = policy or POLICIES[request.problem]
        asked = []
        with InteractiveCompile(request, **options) as session:
            for observation in session:
                asked.append((observation.context, observation.number))
                session.answer(policy(observation.features))
            self.assertIsNone(session.observe())
            self.assertEqual(list(self.work.iterdir()), [])
        return session.outcome, asked

    def fails(self, behaviour: str, kind: FailureKind, text: str, **changes) -> None:
        outcome, _ = self.run_all(self.request(behaviour, **changes))
        self.assertIsInstance(outcome, CompileFailure)
        self.assertEqual((outcome.module_name, outcome.kind), ("a/b.c", kind), outcome.detail)
        self.assertIn(text, outcome.detail)
        self.assert_nothing_left()


class GoodCompileTest(InteractiveTestCase):
    def test_all_problems(self):
        for problem in POLICIES:
            outcome, asked = self.run_all(self.request(problem=problem))
            self.assertIsInstance(outcome, CompileResult, outcome)
            self.assertEqual(asked, [("f", 0), ("f", 1), ("f", 2), ("g", 0), ("g", 1)])
            self.assertTrue(outcome.object_bytes.startswith(b"\x7fFAKE"))
            self.assertEqual((outcome.log, outcome.files), (None, {}))
            self.assert_nothing_left()

    def test_the_object_is_that_of_the_answers(self):
        request = self.request(problem=INLINING)
        objects = {self.run_all(request, lambda _, yes=yes: yes)[0].object_bytes for yes in (0, 1, 0, 1)}
        self.assertEqual(len(objects), 2)

    def test_the_default_decision(self):
        _, asked = self.run_all(self.request(problem=INLINING), lambda f: f["inlining_default"], include_default=True)
        self.assertEqual(len(asked), 5)
        with self.assertRaisesRegex(ValueError, "regalloc_eviction: LLVM does not send the default's decision"):
            InteractiveCompile(self.request(), include_default=True)

    def test_what_is_no_failure(self):
        for behaviour in ("silent", "header_twice", "byte_by_byte", "talkative", "grandchild"):
            outcome, asked = self.run_all(self.request(behaviour))
            self.assertIsInstance(outcome, CompileResult, outcome)
            self.assertEqual(len(asked), 0 if behaviour == "silent" else 5, behaviour)
            self.assert_nothing_left()

    def test_features_hold_until_the_answer(self):
        with InteractiveCompile(self.request()) as session:
            first = session.observe()
            assert first is not None
            kept = first.features["nr_urgent"].copy()
            session.answer(first_legal(first.features))
            second = session.observe()
            assert second is not None
            self.assertIs(first.features["nr_urgent"], second.features["nr_urgent"])
            self.assertFalse(np.array_equal(kept, second.features["nr_urgent"]))


class FailureTest(InteractiveTestCase):
    def test_ends_and_garbage(self):
        for behaviour, kind, text in (
            # Before the channel.
            ("crash", FailureKind.CRASH, "SIGSEGV"),
            ("abort", FailureKind.CRASH, "SIGABRT: fatal error: error in backend"),
            ("refuse", FailureKind.COMPILE_ERROR, "exit code 1: error: expected top-level entity"),
            ("no_object", FailureKind.COMPILE_ERROR, "no object file"),
            # Inside it.
            ("crash_between", FailureKind.CRASH, "SIGSEGV"),
            ("crash_inside", FailureKind.CRASH, "SIGSEGV"),
            ("leaves_inside", FailureKind.BAD_LOG, "the channel ends inside an observation"),
            ("trailing", FailureKind.BAD_LOG, "ends with b'goodbye', inside a line"),
            ("question_at_end", FailureKind.BAD_LOG, "ended well without "),
            ("answer_unread", FailureKind.BAD_LOG, "ended well without reading the last answer"),
            ("deaf", FailureKind.BAD_LOG, "asks without reading the answers"),
            ("garbage_header", FailureKind.BAD_LOG, "channel of a/b.c at byte 0: the header is not JSON"),
            ("endless_header", FailureKind.BAD_LOG, "a line has more than the 1048576 bytes allowed"),
            ("other_dtype", FailureKind.BAD_LOG, "in this channel it is mask int32_t[1, 33]"),
            ("unknown_feature", FailureKind.BAD_LOG, "in this channel it is moon_phase float[1]"),
        ):
            with self.subTest(behaviour):
                self.fails(behaviour, kind, text)

    def test_flags(self):
        self.fails("good", FailureKind.BAD_FLAGS, "unknown argument: '--nonsense'", extra_flags=("--nonsense",))
        self.fails("good", FailureKind.COMPILE_ERROR, "but no remarks.yaml file", extra_files=("remarks.yaml",))

    def test_limits(self):
        quick = CompileLimits(cpu_seconds=1, address_space_bytes=2 << 30, wall_factor=1000)
        self.fails("spin", FailureKind.TIMEOUT, "more than 1 CPU seconds", limits=quick)
        self.fails("chatter", FailureKind.TIMEOUT, "more than 1 CPU seconds: warning: fake", limits=quick)
        impatient = CompileLimits(cpu_seconds=1, wall_factor=1)
        self.fails("hang", FailureKind.TIMEOUT, "it hung: no observation after 1 s", limits=impatient)
        self.fails("hang_with_grandchild", FailureKind.TIMEOUT, "it hung", limits=impatient)
        self.fails("hang_inside", FailureKind.TIMEOUT, "it hung", limits=impatient)

    def test_machine_troubles_are_raised(self):
        request = self.request("no_space")
        absent = dataclasses.replace(request, clang=self.root / "absent")
        for wrong, message in ((request, "compiling a/b.c: no space is left there"), (absent, "cannot be started")):
            with self.assertRaisesRegex(RunError, message), InteractiveCompile(wrong) as session:
                session.observe()
            self.assert_nothing_left()


class RepeatTest(InteractiveTestCase):
    seen: list[tuple[str, int, dict[str, bytes]]]

    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.object(attempts, "_PAUSES_SECONDS", (0.0,) * attempts.MAX_REPEATS))

    def run_killed(self, kills: tuple[int, ...]):
        """Compiles, and kills the compiler when so many questions were asked, each time before the answer is given."""
        with InteractiveCompile(self.request()) as session:
            for count, observation in enumerate(session, 1):
                features = {name: array.tobytes() for name, array in observation.features.items()}
                self.seen.append((observation.context, observation.number, features))
                if count in kills:
                    os.kill(session._process.process_id, signal.SIGKILL)  # pylint: disable=protected-access
                session.answer(first_legal(observation.features))
        self.assert_nothing_left()
        return session.outcome

    def test_a_killed_compiler_is_not_noticed(self):
        self.seen = []
        alone, asked = self.run_killed(()), self.seen
        for kills in ((1,), (3,), (5,), (1, 2, 4)):
            self.seen = []
            outcome = self.run_killed(kills)
            self.assertEqual(outcome.object_bytes, alone.object_bytes, kills)
            self.assertEqual(self.seen, asked, kills)
            self.assertEqual(outcome.repeats, ("SIGKILL from outside",) * len(kills))

    def test_too_many_kills_stop_the_run(self):
        self.seen = []
        with self.assertRaisesRegex(RunError, "compile of a/b.c: was ended from outside 4 times"):
            self.run_killed((1, 2, 3, 4))
        self.assert_nothing_left()
        with (
            self.assertRaisesRegex(RunError, "was ended from outside 4 times"),
            InteractiveCompile(self.request("killed")) as session,
        ):
            session.observe()


class MisuseTest(InteractiveTestCase):
    def test_a_wrong_answer_never_arrives(self):
        wrongs = ((EVICTION, 33), (EVICTION, 0.5), (INLINING, 2), (PRIORITY, float("nan")), (PRIORITY, -1.0))
        for problem, wrong in wrongs:
            with InteractiveCompile(self.request(problem=problem)) as session:
                session.observe()
                with self.assertRaises(WrongAnswerError) as raised:
                    session.answer(wrong)
                self.assertIsNone(session.observe())
                failure = CompileFailure("a/b.c", FailureKind.WRONG_ANSWER, str(raised.exception))
                self.assertEqual(session.outcome, failure)
                self.assert_nothing_left()

    def test_turns(self):
        with InteractiveCompile(self.request()) as session:
            with self.assertRaisesRegex(RuntimeError, "answer\\(\\) without an observation"):
                session.answer(0)
            observation = session.observe()
            assert observation is not None
            with self.assertRaisesRegex(RuntimeError, "observe\\(\\) while the last observation is not answered"):
                session.observe()
            with self.assertRaisesRegex(RuntimeError, "has not come to its end"):
                _ = session.outcome
            session.answer(first_legal(observation.features))
        with self.assertRaisesRegex(RuntimeError, "the compiler does not run"):
            session.observe()
        with self.assertRaisesRegex(RuntimeError, "is used once"), session:
            pass
        self.assert_nothing_left()

    def test_requests_for_the_development_clang(self):
        for changes in ({"want_log": True}, {"model_dir": self.root}):
            with self.assertRaisesRegex(ValueError, "neither training log nor model"):
                InteractiveCompile(self.request(**changes))


class LeavingTest(InteractiveTestCase):
    def test_an_exception_of_the_policy(self):
        for asked in (1, 4):
            with self.assertRaisesRegex(ZeroDivisionError, "mine"), InteractiveCompile(self.request()) as session:
                for count, observation in enumerate(session, 1):
                    if count == asked:
                        raise ZeroDivisionError("mine")
                    session.answer(first_legal(observation.features))
            self.assert_nothing_left()

    def test_a_forgotten_session(self):
        session = InteractiveCompile(self.request("hang_with_grandchild")).__enter__()
        self.assertEqual(len(list(self.work.iterdir())), 1)
        del session
        gc.collect()
        self.assert_nothing_left()

    def test_interrupt(self):
        interrupt = threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT))
        with self.assertRaises(KeyboardInterrupt), InteractiveCompile(self.request("hang_inside")) as session:
            observation = session.observe()
            assert observation is not None
            session.answer(first_legal(observation.features))
            interrupt.start()
            session.observe()
        interrupt.join()
        self.assert_nothing_left()
