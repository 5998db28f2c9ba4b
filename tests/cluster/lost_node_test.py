"""Real modules, the real compiler, three nodes, one of them killed: the outcomes equal those of local compiles."""

import contextlib
import io
import itertools
import os
import pathlib
import signal
import tempfile
import threading
import time
import unittest
from unittest import mock

from mlgo.cluster.executors import ray_executor
from mlgo.cluster.testing.outcomes import comparable
from mlgo.compiler.executor import Executor, LocalExecutor
from mlgo.compiler.process import Cancelled
from mlgo.compiler.request import CompileFailure, CompileRequest
from mlgo.corpus.corpus import Corpus
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run import locate
from mlgo.run.exit_codes import RunError
from tests.cluster.local_cluster import LocalCluster

_MODULES = 10
_ROUNDS = 6
_STOPPED_SECONDS = 5.0


class LostNodeTest(unittest.TestCase):
    cache: pathlib.Path
    cluster: LocalCluster
    nodes: list[int]
    executor: Executor
    requests: list[CompileRequest]

    @classmethod
    def setUpClass(cls):
        cls.cache = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()), "cache")
        cls.cluster = cls.enterClassContext(LocalCluster(cls.cache))
        cls.nodes = [cls.cluster.start_node(1) for _ in range(3)]
        with contextlib.redirect_stderr(io.StringIO()):
            cls.executor = ray_executor(cls.cluster.address)
        cls.addClassCleanup(cls.executor.close)
        modules = Corpus.load(locate.runfile("mlgo/corpus/llvm_few_train")).modules
        smallest = sorted(modules, key=lambda module: (module.bitcode_size, module.name))[:_MODULES]
        cls.requests = [
            CompileRequest(locate.runfile("development/clang"), module, PROBLEM, want_object=True)
            for module in smallest
        ]

    def test_0_a_node_that_answers_nothing_for_a_while_changes_nothing(self):
        wanted = [comparable(outcome) for outcome in LocalExecutor(2).run_ordered(self.requests)]
        outcomes = self.executor.run_ordered(self.requests)
        found = [comparable(next(outcomes))]
        self.cluster.send(self.nodes[2], signal.SIGSTOP)
        threading.Timer(_STOPPED_SECONDS, self.cluster.send, (self.nodes[2], signal.SIGCONT)).start()
        found += [comparable(outcome) for outcome in outcomes]
        self.assertEqual(found, wanted)

    def test_1_a_killed_node_changes_nothing(self):
        here = list(LocalExecutor(2).run_ordered(self.requests))
        self.assertFalse([outcome for outcome in here if isinstance(outcome, CompileFailure)])
        wanted = [comparable(outcome) for outcome in here]
        told = io.StringIO()
        with contextlib.redirect_stderr(told):
            outcomes = self.executor.run_ordered(itertools.chain.from_iterable([self.requests] * _ROUNDS))
            found = [comparable(next(outcomes))]
            os.kill(self.cluster.raylet_of(self.nodes[1]), signal.SIGKILL)
            found += [comparable(outcome) for outcome in outcomes]
        self.assertEqual(found, wanted * _ROUNDS)
        self.assertRegex(told.getvalue(), r"cluster: lost node 127\.0\.0\.2 .*repeated on the 2 left")
        # Compiler and modules by digest, each once for all nodes of this machine.
        self.assertEqual(len([path for path in self.cache.iterdir() if path.name != ".lock"]), 1 + _MODULES)

    def test_2_closing_early_leaves_no_compiler(self):
        outcomes = self.executor.run_ordered(itertools.chain.from_iterable([self.requests] * 20))
        next(outcomes)
        outcomes.close()
        # The kernel ends them a moment after the process that started them.
        end = time.monotonic() + 10
        while compilers := [process for process in self.cluster.processes() if _program(process) == "clang"]:
            self.assertLess(time.monotonic(), end, compilers)
            time.sleep(0.05)

    def test_3_interrupted(self):
        outcomes = self.executor.run_ordered(itertools.cycle(self.requests))
        next(outcomes)  # From now on nodes compile, for ever.
        interrupt = (threading.main_thread().ident, signal.SIGINT)
        with self.assertRaises(KeyboardInterrupt):
            threading.Thread(target=signal.pthread_kill, args=interrupt).start()
            for _ in outcomes:
                pass

    def test_4_closed_while_it_compiles(self):
        outcomes = self.executor.run_ordered(itertools.cycle(self.requests))
        next(outcomes)
        self.executor.close()
        with self.assertRaises(Cancelled):
            list(outcomes)

    def test_5_no_cluster_there(self):
        for address, why in {"127.0.0.1:9": "does not answer", "nowhere": "is not HOST:PORT"}.items():
            with self.assertRaisesRegex(RunError, f"--ray_address={address}: {why}.* Give HOST:PORT of a head node"):
                ray_executor(address)

    def test_6_other_versions_there(self):
        said = "Version mismatch: The cluster was started with:\n    Ray: 2.9.0\n    Python: 3.9.1\n"
        said += "This process was started with:\n    Ray: 2.60"
        with (
            mock.patch("ray.init", side_effect=RuntimeError(said)),
            self.assertRaisesRegex(
                RunError,
                "was started with: Ray: 2.9.0 Python: 3.9.1 This process was started with: Ray: 2.60. Start every node"
                " with",
            ),
        ):
            ray_executor()


def _program(process: int) -> str:
    try:
        return pathlib.Path(f"/proc/{process}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


if __name__ == "__main__":
    unittest.main()
