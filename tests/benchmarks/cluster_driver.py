"""What keeping 1,000 compiles at a time under way costs the driver of a Ray cluster.

A node that compiles nothing answers every request at once with the outcome of a real compile. What is left is the
driver's own work for a compile: packing the request, Ray's messages, the log in memory, the order of outcomes. Ray's
own threads do most of it, beside Python. Learning comes on top: it has the driver to itself while nodes wait.
"""

import contextlib
import io
import pathlib
import pickle
import resource
import statistics
import tempfile
from collections.abc import Iterator
from unittest import mock

from mlgo.cluster import bootstrap
from mlgo.cluster.executors import executor_for
from mlgo.cluster.node import Answer, AnswerKind
from mlgo.compiler.executor import LocalExecutor, available_cores
from mlgo.compiler.request import CompileFailure, CompileRequest, CompileResult
from mlgo.corpus.corpus import Corpus
from mlgo.problems.problem import load_problem
from mlgo.run import locate
from tests.benchmarks.row import Row, at_most
from tests.cluster.local_cluster import LocalCluster

#: Compiles at a time on all nodes together (issue 22, part 5), and the cores that the driver may need for them.
_COMPILES_AT_A_TIME, MOST_CORES = 1000, 8
#: Requests that the node answers, and how many of them are under way.
_REQUESTS, _SLOTS = 2000, 64


def measure() -> list[Row]:
    """The rows of this benchmark; takes a minute."""
    modules = Corpus.load(locate.runfile("mlgo/corpus/llvm_small_held_out")).modules
    problem = load_problem("regalloc_eviction")
    requests = [CompileRequest(locate.runfile("development/clang"), module, problem) for module in modules]
    outcomes = []
    for outcome in LocalExecutor(available_cores()).run_ordered(requests):
        if isinstance(outcome, CompileFailure):
            raise RuntimeError(f"a module of the benchmark's corpus cannot be compiled: {outcome.detail}")
        outcomes.append(outcome)
    median = statistics.median_low(outcome.cpu_seconds for outcome in outcomes)
    number = next(number for number, outcome in enumerate(outcomes) if outcome.cpu_seconds == median)
    with _cluster(outcomes[number]) as executor:
        list(executor.run_ordered([requests[number]] * _SLOTS))  # Digests are made, connections opened.
        before = _cpu_seconds()
        list(executor.run_ordered([requests[number]] * _REQUESTS))
        driver = (_cpu_seconds() - before) / _REQUESTS
    return [
        Row("Ray: median compile of LLVM's held-out modules, eviction, CPU time", median, "s"),
        Row("Ray: driver's CPU time for it", 1000 * driver, "ms"),
        at_most(
            f"Ray: cores of a driver that has {_COMPILES_AT_A_TIME:,} compiles at a time",
            _COMPILES_AT_A_TIME * driver / median,
            "",
            MOST_CORES,
        ),
    ]


@contextlib.contextmanager
def _cluster(outcome: CompileResult) -> Iterator:
    """The executor of a cluster whose node answers every request with `outcome`."""
    content = pickle.dumps(Answer(AnswerKind.OUTCOME, outcome), protocol=5)

    class Answering(bootstrap.NodeActor):
        """A node that has compiled everything already."""

        def compile(self, run: str, parcel: bytes) -> bytes:
            """See `NodeActor.compile`."""
            del run, parcel
            return content

    with tempfile.TemporaryDirectory() as cache, LocalCluster(pathlib.Path(cache)) as cluster:
        cluster.start_node(_SLOTS)
        with mock.patch.object(bootstrap, "NodeActor", Answering), contextlib.redirect_stderr(io.StringIO()):
            with contextlib.closing(executor_for("ray", cluster.address)) as executor:
                yield executor


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
