"""Compiles through a fake compile server end as those of a process do; servers that die are replaced."""

import dataclasses
import os
import pathlib
import signal
import threading

from mlgo.compiler import compile_test as by_process
from mlgo.compiler import server
from mlgo.compiler.attempts import MAX_REPEATS, certain_outcome
from mlgo.compiler.compile import compile_module
from mlgo.compiler.executor import LocalExecutor
from mlgo.compiler.process import Cancellation
from mlgo.compiler.request import CompileFailure, CompileLimits, CompileRequest, CompileResult, FailureKind
from mlgo.compiler.server_executor import ServerExecutor, executor_for, groups_of
from mlgo.compiler.testing import fake_clang, fake_server
from mlgo.compiler.testing.fake_clang import FakeModule
from mlgo.compiler.testing.scratch_case import FakeClangTestCase, comparable
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run.exit_codes import RunError


class ByServer:
    """Makes a test of single compiles use a server."""

    root: pathlib.Path
    deaths = 0

    def compile(self, request: CompileRequest, cancellation: Cancellation | None = None):
        pool = ServerExecutor("clang", fake_server.install(self.root, self.deaths))
        try:
            return compile_module(request, cancellation, pool.run)
        finally:
            pool.close()


class GoodCompileTest(ByServer, by_process.GoodCompileTest): ...


class FailureTest(ByServer, by_process.FailureTest): ...


class ProcessGroupTest(ByServer, by_process.ProcessGroupTest): ...


class DyingServerTest(ByServer, by_process.CompileTestCase):
    def outcome_after(self, deaths: int):
        pool = ServerExecutor("clang", fake_server.install(self.root, deaths))
        self.addCleanup(pool.close)
        return certain_outcome(self.request(), None, pool.run)

    def test_deaths_change_nothing(self):
        for deaths in (1, MAX_REPEATS):
            outcome = self.outcome_after(deaths)
            self.assertIsInstance(outcome, CompileResult)
            self.assertEqual(outcome.repeats, ("end of the compile server",) * deaths)

    def test_more_stop_the_run(self):
        with self.assertRaisesRegex(RunError, "was ended from outside 4 times, .*end of the compile server"):
            self.outcome_after(MAX_REPEATS + 1)

    def test_servers_that_were_killed_while_they_waited_cost_no_attempt(self):
        pool = ServerExecutor("clang", fake_server.install(self.root))
        self.addCleanup(pool.close)
        request = self.request()
        certain_outcome(request, None, pool.run)
        (waiting,) = pool._idle  # pylint: disable=protected-access
        os.kill(waiting.process_id, signal.SIGKILL)
        os.waitid(os.P_PID, waiting.process_id, os.WEXITED | os.WNOWAIT)
        self.assertEqual(certain_outcome(request, None, pool.run).repeats, ())

    def test_a_program_that_is_none(self):
        with self.assertRaisesRegex(RunError, "absent: cannot be started: No such file"):
            compile_module(self.request(), None, ServerExecutor("clang", self.root / "absent").run)

    def test_killed_in_the_middle(self):
        program = fake_server.install(self.root)
        running = server.CompileServer(program)
        self.addCleanup(running.close)
        killer = threading.Timer(0.5, os.kill, (running.process_id, signal.SIGKILL))
        killer.start()
        with self.assertRaisesRegex(server.ServerDied, "the compile server has ended"):
            # The fake server's compile survives it, until the limit.
            compile_module(self.request("spin", limits=CompileLimits(cpu_seconds=1)), None, running)
        killer.join()


class ServerExecutorTest(FakeClangTestCase):
    def executor(self, workers: int) -> ServerExecutor:
        executor = executor_for(self.clang, workers, fake_server.install(self.root))
        assert isinstance(executor, ServerExecutor)
        self.addCleanup(executor.close)
        return executor

    def test_a_corpus_where_modules_misbehave(self):
        behaviours = ["good"] * 12 + ["crash", "spin", "out_of_memory"]
        modules = {f"m{index:02}": FakeModule.bitcode({"f": index % 3}, name) for index, name in enumerate(behaviours)}
        limits = CompileLimits(cpu_seconds=1, wall_factor=1000, address_space_bytes=256 << 20)
        requests = self.requests(modules, limits=limits)
        found = self.found(self.executor(2), requests)
        self.assertEqual(found, self.found(LocalExecutor(2), requests))
        kinds = [outcome.kind for outcome in found if isinstance(outcome, CompileFailure)]
        self.assertEqual(kinds, [FailureKind.CRASH, FailureKind.TIMEOUT, FailureKind.OUT_OF_MEMORY])

    def variants(self, modules: dict[str, bytes], count: int, **changes) -> list[CompileRequest]:
        """Each module under each of `count` policies."""
        models = [self.model(b"weights %d" % index) for index in range(count)]
        requests = self.requests(modules, want_object=True, **changes)
        return [dataclasses.replace(request, model_dir=model) for request in requests for model in models]

    def found(self, executor, requests: list[CompileRequest]) -> list:
        """The outcomes, as what can be compared."""
        outcomes = list(executor.run_ordered(requests))
        self.assertEqual([outcome.module_name for outcome in outcomes], [request.module.name for request in requests])
        self.assertEqual(list(self.work.iterdir()), [])
        return list(map(comparable, outcomes))

    def test_policies_of_one_module_share_a_compile(self):
        behaviours = {"a": "good", "b": "crash", "c": "truncated_log", "d": "good", "e": "refuse"}
        modules = {name: FakeModule.bitcode({"f": 3, "g": 2}, behaviour) for name, behaviour in behaviours.items()}
        requests = self.variants(modules, 3)
        expected = self.found(LocalExecutor(2), requests)
        self.assertEqual(len({str(outcome) for outcome in expected[:3]}), 3, "policies make no difference")
        for workers in (1, 2):
            self.assertEqual(self.found(self.executor(workers), requests), expected)

    def test_a_server_that_dies_between_policies(self):
        requests = self.variants({"a": FakeModule.bitcode({"f": 3})}, 4)
        expected = self.found(LocalExecutor(1), requests)
        executor = self.executor(1)
        outcomes = self.found(executor, requests[:2])
        fake_server.install(self.root, deaths=1)
        self.assertEqual(outcomes + self.found(executor, requests[2:]), expected)

    def test_a_module_without_a_decision_is_compiled_as_any_other(self):
        requests = self.variants({"a": FakeModule.bitcode({"f": 3}, "undecided")}, 2)
        self.assertEqual(self.found(self.executor(1), requests), self.found(LocalExecutor(1), requests))

    def test_what_is_shared_may_hang(self):
        modules, limits = {"a": FakeModule.bitcode({"f": 3}, "hang_before_decision")}, CompileLimits(1, wall_factor=0.5)
        requests = self.variants(modules, 2, limits=limits)
        expected = self.found(LocalExecutor(2), requests)
        self.assertEqual([outcome.kind for outcome in expected], [FailureKind.TIMEOUT] * 2)
        self.assertEqual(self.found(self.executor(1), requests), expected)

    def test_groups(self):
        one, other = self.requests({"a": FakeModule.bitcode({}), "b": FakeModule.bitcode({})})

        def shape(*requests: CompileRequest) -> list[int]:
            return [len(group) for group in groups_of(requests)]

        learned = [dataclasses.replace(one, model_dir=self.root / str(index)) for index in range(40)]
        self.assertEqual(shape(*learned), [16, 16, 8])
        another = dataclasses.replace(other, model_dir=self.root)
        self.assertEqual(shape(one, one, *learned[:3], another, one), [1, 1, 3, 1, 1])
        self.assertEqual(shape(learned[0], dataclasses.replace(learned[1], want_object=True)), [1, 1])
        self.assertEqual(shape(*(dataclasses.replace(each, extra_files=("x",)) for each in learned[:2])), [1, 1])
        self.assertEqual(shape(), [])

    def test_closing_leaves_nothing(self):
        modules = {name: FakeModule.bitcode({}, "good" if name == "a" else "hang") for name in "abc"}
        executor = self.executor(3)
        outcomes = executor.run_ordered(self.requests(modules))
        self.assertEqual(next(outcomes).module_name, "a")
        outcomes.close()  # Without an end of "b" and "c", which hang for longer than a test may take.
        executor.close()
        self.assert_nothing_left()

    def test_without_a_server(self):
        told: list[str] = []
        self.assertIsInstance(executor_for(self.clang, 1, tell=told.append), LocalExecutor)
        self.assertEqual(len(told), 1)
        self.assertIn(f"no compile server beside {self.clang}", told[0])
        fake_server.install(self.root)
        self.assertIsInstance(executor_for(self.clang, 1, tell=told.append), ServerExecutor)
        self.assertEqual(len(told), 1)

    def test_another_compiler_is_a_process(self):
        executor = self.executor(1)
        elsewhere = self.root / "elsewhere"
        elsewhere.mkdir()
        self.clang = pathlib.Path(fake_clang.install(elsewhere, PROBLEM))
        fake_server.install(self.root, deaths=9)
        (outcome,) = executor.run_ordered(self.requests({"a": FakeModule.bitcode({"f": 1})}))
        self.assertIsInstance(outcome, CompileResult)
