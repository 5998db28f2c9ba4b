"""What keeping 1,000 compiles at a time under way costs the driver of a Ray cluster, and where that ends.

A node that compiles nothing answers every request at once with the outcome of a real compile. What is left is the
driver's own work for a compile: packing the request, Ray's messages, the log in memory, the order of outcomes. From
what is measured, `driver_model.py` calculates with how many compiles at a time the driver keeps nodes waiting. Learning
comes on top: it has the driver to itself while nodes wait.
"""

import contextlib
import dataclasses
import hashlib
import io
import os
import pathlib
import pickle
import resource
import statistics
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from unittest import mock

from mlgo.cluster import bootstrap, ordered
from mlgo.cluster.executors import executor_for
from mlgo.cluster.node import Answer, AnswerKind
from mlgo.cluster.parcel import Packer
from mlgo.compiler.executor import LocalExecutor, available_cores
from mlgo.compiler.request import CompileFailure, CompileRequest, CompileResult
from mlgo.corpus.corpus import Corpus
from mlgo.problems.problem import load_problem
from mlgo.run import locate
from tests.benchmarks import ppo_update
from tests.benchmarks.driver_model import STATIONS, Costs, Driver, collect, saturated_at, slots_equal_to_learning
from tests.benchmarks.row import Row, at_least, at_most
from tests.cluster.local_cluster import LocalCluster

#: Compiles at a time on all nodes together, and the cores that the driver may need for them.
_COMPILES_AT_A_TIME, MOST_CORES = 1000, 8
#: Requests that the node answers, and how many of them are under way.
_REQUESTS, _SLOTS = 2000, 64
_REPEATS = 20
#: model.tflite of a policy for eviction that explores; each compile of an iteration has one of its own.
_POLICY_BYTES = 43_200
#: 10 Gbit/s.
_NETWORK_BYTES = 1.25e9
_CANDIDATES = (64, 128, 256, 512, 750, 1000, 1250, 1500, 2000, 3000, 4000)


def measure() -> list[Row]:
    """The rows of this benchmark; takes two minutes."""
    modules = Corpus.load(locate.runfile("mlgo/corpus/llvm_small_held_out")).modules
    problem = load_problem("regalloc_eviction")
    requests = [CompileRequest(locate.runfile("development/clang"), module, problem) for module in modules]
    outcomes = []
    for outcome in LocalExecutor(available_cores()).run_ordered(requests):
        if isinstance(outcome, CompileFailure):
            raise RuntimeError(f"a module of the benchmark's corpus cannot be compiled: {outcome.detail}")
        outcomes.append(outcome)
    decisions = statistics.median_low(outcome.log.observation_count for outcome in outcomes)
    number = next(number for number, outcome in enumerate(outcomes) if outcome.log.observation_count == decisions)
    outcome = outcomes[number]
    median = statistics.median(outcome.cpu_seconds for outcome in outcomes)
    with tempfile.TemporaryDirectory() as model:
        pathlib.Path(model, "model.tflite").write_bytes(os.urandom(_POLICY_BYTES))
        request = dataclasses.replace(requests[number], model_dir=model)
        messages = len(_answer(outcome)) + len(pickle.dumps(Packer().pack(request).parcel, protocol=5))
        driver, in_python = _driver_seconds(request, outcome)
    learning = decisions * ppo_update.seconds_per_decision()
    costs = Costs(in_python, driver - in_python, messages, learning, tuple(each.cpu_seconds for each in outcomes))
    machine = Driver(MOST_CORES, _NETWORK_BYTES)
    return [
        Row("Ray: median compile of LLVM's held-out modules, eviction, CPU time", median, "s"),
        Row("Ray: driver's CPU time for it", 1000 * driver, "ms"),
        Row("Ray: of it in Python, at most", 1000 * in_python, "ms"),
        Row("Ray: messages for it, both ways, policy included", messages / 1e6, "MB"),
        Row("Ray: SHA-256 of a new module or policy", _hash_rate() / 1e6, "MB/s"),
        at_most(
            f"Ray: cores of a driver that has {_COMPILES_AT_A_TIME:,} compiles at a time",
            _COMPILES_AT_A_TIME * driver / median,
            "",
            MOST_CORES,
        ),
        *_simulated(costs, machine),
        Row("PPO: decisions of that compile", decisions, ""),
        Row("PPO: learning from them once, CPU time, mostly of one core", 1000 * learning, "ms"),
        Row("PPO: compiles at a time with which nodes wait half of the time", slots_equal_to_learning(costs), ""),
    ]


def _simulated(costs: Costs, driver: Driver) -> list[Row]:
    saturated = saturated_at(costs, driver, _CANDIDATES)
    last = _CANDIDATES[-1] if saturated is None else _CANDIDATES[max(0, _CANDIDATES.index(saturated) - 1)]
    busy = collect(costs, driver, _COMPILES_AT_A_TIME, 16 * _COMPILES_AT_A_TIME)
    name = f"{driver.cores} cores and {8 * driver.network_bytes / 1e9:g} Gbit/s"
    return [
        at_least(f"simulated driver, {name}: compiles at a time before it saturates", last, "", _COMPILES_AT_A_TIME),
        *(
            Row(f"simulated driver: {station} busy at {_COMPILES_AT_A_TIME:,}", 100 * busy.stations[station], "%")
            for station in STATIONS
        ),
    ]


def _driver_seconds(request: CompileRequest, outcome: CompileResult) -> tuple[float, float]:
    """The driver's CPU time for a compile: all of it, and at most so much of it in Python, one core at a time.

    The latter is that of Python's threads without decompression, during which others run. It includes parts of Ray of
    which the same is true.
    """
    attempts = _Clock(ordered._compile_somewhere)  # pylint: disable=protected-access
    decompression = _Clock(zlib.decompress)
    with (
        _cluster(outcome) as executor,
        mock.patch.object(ordered, "_compile_somewhere", attempts),
        mock.patch.object(zlib, "decompress", decompression),
    ):
        list(executor.run_ordered([request] * _SLOTS))  # Digests are made, connections opened.
        attempts.seconds = decompression.seconds = 0.0
        before, here = _cpu_seconds(), time.thread_time()
        for _ in executor.run_ordered([request] * _REQUESTS):
            pass
        driver, here = _cpu_seconds() - before, time.thread_time() - here
    return driver / _REQUESTS, (here + attempts.seconds - decompression.seconds) / _REQUESTS


class _Clock:
    """A function whose CPU time is added up over all threads that call it."""

    def __init__(self, function: Callable):
        self._function, self._lock = function, threading.Lock()
        self.seconds = 0.0

    def __call__(self, *arguments):
        begin = time.thread_time()
        try:
            return self._function(*arguments)
        finally:
            with self._lock:
                self.seconds += time.thread_time() - begin


def _answer(outcome: CompileResult) -> bytes:
    return Answer(AnswerKind.OUTCOME, outcome).to_bytes()


def _hash_rate() -> float:
    """Bytes per second of one core."""
    content = os.urandom(1 << 20)
    begin = time.thread_time()
    for _ in range(_REPEATS):
        hashlib.sha256(content).digest()
    return _REPEATS * len(content) / (time.thread_time() - begin)


@contextlib.contextmanager
def _cluster(outcome: CompileResult) -> Iterator:
    """The executor of a cluster whose node answers every request with `outcome`."""
    content = _answer(outcome)

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
