"""Every way a compile can end, against the fake clang; limits, process groups, determinism of place."""

import dataclasses
import errno
import os
import pathlib
import subprocess
import unittest
from typing import Any
from unittest import mock

import numpy as np

from mlgo.compiler import process
from mlgo.compiler.compile import clang_command, classify, compile_module, compiler_environment, run_process
from mlgo.compiler.process import Cancellation, Cancelled, ProcessOutcome
from mlgo.compiler.request import (
    CompileDisturbed,
    CompileFailure,
    CompileLimits,
    CompileRequest,
    CompileResult,
    FailureKind,
)
from mlgo.compiler.testing import fake_clang
from mlgo.compiler.testing.fake_clang import FakeModule
from mlgo.compiler.testing.scratch_case import FakeClangTestCase
from mlgo.corpus.corpus import Module
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run.exit_codes import RunError

FUNCTIONS = {"f": 3, "empty": 0, "g": 2}


class CompileTestCase(FakeClangTestCase):
    def compile(self, request: CompileRequest, cancellation: Cancellation | None = None):
        """How these tests compile; others run them in another way."""
        return compile_module(request, cancellation)

    def request(self, behaviour: str = "good", **changes) -> CompileRequest:
        (request,) = self.requests({"a/b.c": FakeModule.bitcode(FUNCTIONS, behaviour)}, **changes)
        return request

    def fails(self, behaviour: str, kind: FailureKind, text: str, **changes) -> None:
        outcome = self.compile(self.request(behaviour, **changes))
        self.assertIsInstance(outcome, CompileFailure)
        self.assertEqual((outcome.module_name, outcome.kind), ("a/b.c", kind), outcome.detail)
        self.assertIn(text, outcome.detail)
        self.assertEqual(list(self.work.iterdir()), [])


class EnvironmentTest(unittest.TestCase):
    def test_compilers_and_python_have_one_choice_of_the_c_library_s_functions(self):
        """toolchains/python/sitecustomize.py, which no module can import, has chosen for this process."""
        self.assertIn(compiler_environment()["GLIBC_TUNABLES"], os.environ["GLIBC_TUNABLES"].split(":"))


class GoodCompileTest(CompileTestCase):
    def test_log_and_object(self):
        outcome = self.compile(self.request(want_object=True))
        self.assertIsInstance(outcome, CompileResult, outcome)
        self.assertEqual(outcome.log.contexts, ["f", "empty", "g"])
        self.assertEqual(list(outcome.log.observation_context), [0, 0, 0, 2, 2])
        self.assertEqual(outcome.log.features["mask"].shape, (5, 1, 33))
        rows = np.arange(5)
        self.assertTrue(outcome.log.features["mask"][rows, 0, outcome.log.actions].all())
        self.assertTrue(np.isnan(outcome.log.outcomes[1]))
        self.assertGreaterEqual(outcome.log.outcomes[0], 100)
        self.assertTrue(outcome.object_bytes.startswith(b"\x7fFAKE"))
        self.assertEqual(list(self.work.iterdir()), [])

    def test_only_what_is_wanted(self):
        outcome = self.compile(self.request(want_log=False, want_object=True))
        self.assertIsNone(outcome.log)
        self.assertIsNone(self.compile(self.request()).object_bytes)

    def test_the_model_decides(self):
        model = self.model()
        default = self.compile(self.request()).log
        learned = self.compile(self.request(model_dir=model)).log
        np.testing.assert_array_equal(default.features["mask"], learned.features["mask"])
        self.assertNotEqual(list(default.outcomes), list(learned.outcomes))
        (model / "output_spec.json").write_text("[]")
        self.fails("good", FailureKind.COMPILE_ERROR, "Could not load the policy model", model_dir=model)

    def test_a_slow_compile_does_not_hang(self):
        # It lasts for several windows of the guard, as it does on a machine with too much to do.
        request = self.request(limits=CompileLimits(cpu_seconds=20, wall_factor=0.01))
        (self.root / "corpus" / "a" / "b.c.bc").write_bytes(FakeModule.bitcode(FUNCTIONS, milliseconds=1000))
        outcome = self.compile(request)
        self.assertIsInstance(outcome, CompileResult, outcome)

    def test_the_command_does_not_depend_on_the_place(self):
        request = self.request(model_dir=self.root / "model")
        self.assertNotIn(str(self.root), " ".join(clang_command(request)[1:]))


class FailureTest(CompileTestCase):
    def test_ends_of_the_compiler(self):
        self.fails("crash", FailureKind.CRASH, "SIGSEGV")
        self.fails("abort", FailureKind.CRASH, "SIGABRT: fatal error: error in backend")
        self.fails("refuse", FailureKind.COMPILE_ERROR, "exit code 1: error: expected top-level entity")
        self.fails("no_object", FailureKind.COMPILE_ERROR, "no object file", want_object=True)

    def test_flags(self):
        self.fails("good", FailureKind.BAD_FLAGS, "unknown argument: '--nonsense'", extra_flags=("--nonsense",))
        self.clang = pathlib.Path(fake_clang.install(self.root, PROBLEM, ml_support=False))
        self.fails("good", FailureKind.BAD_FLAGS, "Unknown command line argument '-regalloc-enable-advisor")

    def test_a_command_that_cannot_be_used_is_the_module_s_failure(self):
        path = self.root / "corpus" / "a" / "b.c.cmd"
        for content, kind, message in (
            (b"-O2\0" * 200_000, FailureKind.BAD_FLAGS, "has 200,0.. words, .*, more than the 1,048,576 allowed"),
            (b"-target-cpu\0" + b"a" * 200_000, FailureKind.BAD_FLAGS, "has a word of 200,000 bytes"),
            (b"-fplugin=x\0", FailureKind.BAD_FLAGS, "has -fplugin=x, which may do more than change code"),
            (b"-mllvm\0", FailureKind.BAD_FLAGS, "lacks its argument"),
            (b"", FailureKind.COMPILE_ERROR, "b.c.cmd.* is empty"),
        ):
            with self.subTest(message):
                request = self.request()  # A corpus anew: a command is read once.
                path.write_bytes(content)
                outcome = self.compile(request)
                self.assertIsInstance(outcome, CompileFailure, outcome)
                self.assertEqual(outcome.kind, kind)
                self.assertRegex(outcome.detail, message)
        self.assertEqual(list(self.work.iterdir()), [])

    def test_the_size_of_an_object_is_limited(self):
        limits = CompileLimits(cpu_seconds=20, object_bytes=8)
        wrong = "its object file cannot be read: it has"
        self.fails("good", FailureKind.COMPILE_ERROR, wrong, want_object=True, limits=limits)

    def test_logs(self):
        wrong = "was not written: the compile ended well without the advisor of regalloc_eviction"
        self.fails("no_log", FailureKind.BAD_LOG, wrong)
        self.fails("empty_log", FailureKind.BAD_LOG, "training log of a/b.c: is empty")
        self.fails("garbage_log", FailureKind.BAD_LOG, "the header is not JSON")
        self.fails("truncated_log", FailureKind.BAD_LOG, "the log ends inside a tensor")
        self.fails("huge_log", FailureKind.BAD_LOG, "wrote a file of more than 16777216 bytes")

    def test_limits(self):
        # The wall-clock guard far away: on a busy machine one CPU second can take a minute.
        quick = CompileLimits(cpu_seconds=1, address_space_bytes=2 << 30, wall_factor=1000)
        self.fails("spin", FailureKind.TIMEOUT, "more than 1 CPU seconds", limits=quick)
        self.fails("chatter", FailureKind.TIMEOUT, "more than 1 CPU seconds: warning: fake", limits=quick)
        self.fails("out_of_memory", FailureKind.OUT_OF_MEMORY, "more than 2147483648 bytes")
        impatient = dataclasses.replace(quick, wall_factor=0.5)
        self.fails("hang", FailureKind.TIMEOUT, "it hung: no end after 0.5 s", limits=impatient)

    def test_machine_troubles_are_raised(self):
        with self.assertRaisesRegex(CompileDisturbed, "SIGKILL from outside"):
            self.compile(self.request("killed"))
        with self.assertRaisesRegex(RunError, "while compiling a/b.c: no space is left there. free space"):
            self.compile(self.request("no_space"))
        with self.assertRaisesRegex(RunError, "absent: cannot be started: .*No such file.* give the path of a clang"):
            self.compile(dataclasses.replace(self.request(), clang=self.root / "absent"))
        with (
            mock.patch.object(subprocess, "Popen", side_effect=OSError(errno.E2BIG, os.strerror(errno.E2BIG))),
            self.assertRaisesRegex(RunError, "this machine's limit for a command .*ulimit -s"),
        ):
            run_process([str(self.clang)], str(self.work), CompileLimits())


class ProcessGroupTest(CompileTestCase):
    def test_a_grandchild_is_neither_waited_for_nor_left(self):
        # Whoever waited for it would wait for an hour, longer than a test may take.
        self.assertIsInstance(self.compile(self.request("grandchild")), CompileResult)
        self.assert_nothing_left()

    def test_a_hanging_family_is_killed(self):
        limits = CompileLimits(cpu_seconds=1, wall_factor=1)
        self.fails("hang_with_grandchild", FailureKind.TIMEOUT, "it hung", limits=limits)
        self.assert_nothing_left()

    def test_cancellation(self):
        cancellation = Cancellation()
        cancellation.trigger()
        with self.assertRaises(Cancelled):
            self.compile(self.request("hang_with_grandchild"), cancellation)
        self.assert_nothing_left()


class RequestTest(unittest.TestCase):
    def test_contradictions(self):
        clang, module, model = pathlib.Path("clang"), Module.at("m", "m.bc", ()), pathlib.Path("model")
        plain: dict[str, Any] = {"want_log": False, "want_object": True}
        CompileRequest(clang, module, **plain)
        CompileRequest(clang, module, INLINING, decisions=b"")
        for changes, wrong in (
            ({"want_log": False}, "neither a log nor an object is wanted of this compile"),
            ({}, "a log and a model need a problem"),
            ({"want_log": False, "model_dir": model}, "a log and a model need a problem"),
            ({"decisions": b"", **plain}, "decisions need a problem that can be given some"),
            ({"decisions": b"", "problem": PROBLEM, **plain}, "decisions need a problem that can be given some"),
        ):
            with self.subTest(wrong), self.assertRaisesRegex(ValueError, f"m: {wrong}"):
                CompileRequest(clang, module, **changes)


class ClassifyTest(unittest.TestCase):
    def classified(self, exit_code: int, stderr: str, cpu: float = 1.0, hung: bool = False, model=None):
        request = CompileRequest(pathlib.Path("clang"), Module.at("m", "m.bc", ()), PROBLEM, model)
        return classify(ProcessOutcome(exit_code, stderr, hung, cpu), request, "work")

    def test_ends_that_the_fake_cannot_make(self):
        fatal = "fatal error: error in backend"
        masked = f"{fatal}: register eviction policy answered 3, which is not among the allowed positions"
        no_memory = "terminate called after throwing an instance of 'std::bad_alloc'"
        for exit_code, stderr, cpu, hung, kind in (
            (-9, "", 400.0, False, FailureKind.TIMEOUT),
            (-24, "", 300.0, False, FailureKind.TIMEOUT),
            (-9, "", 1.0, True, FailureKind.TIMEOUT),
            (-6, no_memory, 1.0, False, FailureKind.OUT_OF_MEMORY),
            (-31, "", 1.0, False, FailureKind.CRASH),
            (70, fatal, 1.0, False, FailureKind.COMPILE_ERROR),
            (1, masked, 1.0, False, FailureKind.WRONG_ANSWER),
        ):
            failure = self.classified(exit_code, stderr, cpu, hung)
            assert failure is not None
            self.assertEqual(failure.kind, kind, failure)
        self.assertIsNone(self.classified(0, "warning: out of memory"))

    def test_ends_that_say_nothing_about_the_module(self):
        for exit_code, stderr, reason in (
            (-9, "", "SIGKILL from outside"),
            (-15, "", "SIGTERM from outside"),
            (-40, "", "signal 40 from outside"),
            (-9, "warning: out of memory", "SIGKILL from outside: warning: out of memory"),
            (127, "clang: error while loading shared libraries: Cannot allocate memory", "too few resources to start"),
            (1, "error: Stale file handle", "Stale file handle"),
        ):
            with self.assertRaisesRegex(CompileDisturbed, f"^{reason}"):
                self.classified(exit_code, stderr)

    def test_a_model_that_cannot_be_loaded_is_no_crash(self):
        # What clang 22.1.8 prints, shortened.
        stderr = (
            "error: Could not load the policy model from the provided path\n"
            "PLEASE submit a bug report to https://example.org and include the crash backtrace.\n"
            "Stack dump:\n0.\tProgram arguments: clang -cc1 -O2\n1.\tCode generation\n"
            "2.\tRunning pass 'Greedy Register Allocator' on function '@f'\n"
            " #0 0x00007f0000000000 (clang+0x1)\nclang(+0x2f)[0x55d]\n"
            "0  clang     0x00000000071b9586\n10 libc.so.6 0x00007f92748ef350 __write + 16\n"
        )
        failure = self.classified(-11, stderr, model=pathlib.Path("a/model"))
        assert failure is not None
        self.assertEqual(failure.kind, FailureKind.COMPILE_ERROR)
        said = "it cannot load the model a/model: error: Could not load the policy model from the provided path"
        stack = ["1.\tCode generation", "2.\tRunning pass 'Greedy Register Allocator' on function '@f'"]
        self.assertEqual(failure.detail.splitlines(), [said, *stack])

    def test_stderr_keeps_both_ends(self):
        text = process.BoundedText()
        reader, writer = os.pipe()
        for part in (b"first" + b"." * 30000, b"." * 30000, b"." * 30000 + b"last"):
            os.write(writer, part)
            text.read_from(reader)
        os.close(writer)
        self.assertFalse(text.read_from(reader))
        os.close(reader)
        self.assertRegex(text.text(), r"(?s)^first\.+\n\[\.\.\. 57241 bytes left out \.\.\.\]\n\.+last$")
