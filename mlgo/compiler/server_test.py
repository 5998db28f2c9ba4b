"""Compiles through a fake compile server end as those of a process do; servers that die are replaced."""

import dataclasses
import os
import pathlib
import signal
import threading
import unittest

from mlgo.compiler import compile_test as by_process
from mlgo.compiler import server
from mlgo.compiler.attempts import MAX_REPEATS, certain_outcome
from mlgo.compiler.compile import compile_module
from mlgo.compiler.executor import LocalExecutor
from mlgo.compiler.process import Cancellation
from mlgo.compiler.request import CompileFailure, CompileLimits, CompileRequest, CompileResult, FailureKind
from mlgo.compiler.server_executor import ServerExecutor, executor_for, groups_of
from mlgo.compiler.testing import fake_clang, fake_server, processes
from mlgo.compiler.testing.fake_clang import FakeModule
from mlgo.compiler.testing.scratch_case import ScratchTestCase
from mlgo.corpus.corpus import Corpus
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run.exit_codes import RunError


def _comparable(outcome: CompileResult | CompileFailure) -> object:
    """A failure, or what the log has of contexts."""
    if isinstance(outcome, CompileFailure):
        return outcome
    assert outcome.log is not None
    return outcome.log.contexts, outcome.log.outcomes.tobytes()


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


class GoodCompileTest(ByServer, by_process.GoodCompileTest):
    pass


class FailureTest(ByServer, by_process.FailureTest):
    pass


class ProcessGroupTest(ByServer, by_process.ProcessGroupTest):
    pass


class DyingServerTest(ByServer, by_process.FakeClangTestCase):
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


class ServerExecutorTest(ScratchTestCase):
    def setUp(self):
        super().setUp()
        self.clang = pathlib.Path(fake_clang.install(self.root, PROBLEM))

    def requests(self, modules: dict[str, bytes], **limits) -> list[CompileRequest]:
        fake_clang.write_corpus(self.root / "corpus", modules)
        return [
            CompileRequest(self.clang, module, PROBLEM, limits=CompileLimits(**limits), workdir=self.work)
            for module in Corpus.load(self.root / "corpus").modules
        ]

    def executor(self, workers: int) -> ServerExecutor:
        executor = executor_for(self.clang, workers, fake_server.install(self.root))
        assert isinstance(executor, ServerExecutor)
        self.addCleanup(executor.close)
        return executor

    def test_a_corpus_where_modules_misbehave(self):
        behaviours = ["good"] * 12 + ["crash", "spin", "out_of_memory"]
        modules = {f"m{index:02}": FakeModule.bitcode({"f": index % 3}, name) for index, name in enumerate(behaviours)}
        requests = self.requests(modules, cpu_seconds=1, wall_factor=1000, address_space_bytes=256 << 20)
        found = {}
        for name, executor in (("processes", LocalExecutor(2)), ("servers", self.executor(2))):
            outcomes = list(executor.run_ordered(requests))
            self.assertEqual([outcome.module_name for outcome in outcomes], sorted(modules))
            found[name] = list(map(_comparable, outcomes))
        self.assertEqual(found["processes"], found["servers"])
        kinds = [outcome.kind for outcome in found["servers"] if isinstance(outcome, CompileFailure)]
        self.assertEqual(kinds, [FailureKind.CRASH, FailureKind.TIMEOUT, FailureKind.OUT_OF_MEMORY])

    def variants(self, modules: dict[str, bytes], models: int, **limits) -> list[CompileRequest]:
        """Each module under each of `models` policies."""
        requests = []
        for request in self.requests(modules, **limits):
            for index in range(models):
                folder = self.root / f"model{index}"
                folder.mkdir(exist_ok=True)
                (folder / "model.tflite").write_bytes(b"weights %d" % index)
                (folder / "output_spec.json").write_text('[{"logging_name": "index_to_evict"}]')
                requests.append(dataclasses.replace(request, model_dir=folder, want_object=True))
        return requests

    def found(self, executor, requests: list[CompileRequest]) -> list:
        """The outcomes, as what can be compared."""
        outcomes = list(executor.run_ordered(requests))
        self.assertEqual([outcome.module_name for outcome in outcomes], [request.module.name for request in requests])
        self.assertEqual(list(self.work.iterdir()), [])
        return [
            outcome
            if isinstance(outcome, CompileFailure)
            else (
                outcome.log.contexts,
                outcome.log.actions.tobytes(),
                outcome.log.outcomes.tobytes(),
                outcome.object_bytes,
            )
            for outcome in outcomes
        ]

    def test_policies_of_one_module_share_a_compile(self):
        modules = {
            name: FakeModule.bitcode({"f": 3, "g": 2}, behaviour)
            for name, behaviour in (
                ("a", "good"),
                ("b", "crash"),
                ("c", "truncated_log"),
                ("d", "good"),
                ("e", "refuse"),
            )
        }
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
        requests = self.variants(
            {"a": FakeModule.bitcode({"f": 3}, "hang_before_decision")}, 2, cpu_seconds=1, wall_factor=0.5
        )
        expected = self.found(LocalExecutor(2), requests)
        self.assertEqual([outcome.kind for outcome in expected], [FailureKind.TIMEOUT] * 2)
        self.assertEqual(self.found(self.executor(1), requests), expected)

    def test_groups(self):
        one, other = self.requests({"a": FakeModule.bitcode({}), "b": FakeModule.bitcode({})})

        def shape(*requests: CompileRequest) -> list[int]:
            return [len(group) for group in groups_of(requests)]

        learned = [dataclasses.replace(one, model_dir=self.root / str(index)) for index in range(40)]
        self.assertEqual(shape(*learned), [16, 16, 8])
        self.assertEqual(
            shape(one, one, *learned[:3], dataclasses.replace(other, model_dir=self.root), one), [1, 1, 3, 1, 1]
        )
        self.assertEqual(shape(learned[0], dataclasses.replace(learned[1], want_object=True)), [1, 1])
        self.assertEqual(shape(*(dataclasses.replace(each, extra_files=("x",)) for each in learned[:2])), [1, 1])
        self.assertEqual(shape(), [])

    def test_closing_leaves_nothing(self):
        modules = {
            "a": FakeModule.bitcode({}),
            "b": FakeModule.bitcode({}, "hang"),
            "c": FakeModule.bitcode({}, "hang"),
        }
        executor = self.executor(3)
        outcomes = executor.run_ordered(self.requests(modules))
        self.assertEqual(next(outcomes).module_name, "a")
        outcomes.close()  # Without an end of "b" and "c", which hang for longer than a test may take.
        executor.close()
        self.assertEqual(processes.left_in(self.work), [])
        self.assertEqual(list(self.work.iterdir()), [])

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


if __name__ == "__main__":
    unittest.main()
