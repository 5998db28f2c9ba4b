"""Observations per second from a stored eviction trace to a vocabulary, and what memory that takes.

The trace is of real modules of the built-in corpus, repeated under other names until it has enough observations.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from mlgo.compiler.executor import available_cores
from mlgo.compiler.request import CompileLimits
from mlgo.corpus.corpus import Corpus
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run import locate
from mlgo.trace.outcomes import read_record
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import Trace, trace_corpus
from mlgo.trace.vocabulary import VocabularyConfig, build_vocabulary
from tests.benchmarks.row import Row, at_least, at_most

#: Every so many-th module is compiled.
_STRIDE = 8
_SMALL, _LARGE = 200_000, 800_000
_CHILD = (
    "import sys; sys.path[:] = {path!r}; from tests.benchmarks import vocabulary; vocabulary.child({folder!r}, {count})"
)


def measure() -> list[Row]:
    """The rows of this benchmark; takes about half a minute."""
    corpus = Corpus.load(locate.runfile("mlgo/corpus/llvm_small"))
    clang = locate.runfile("development/clang").resolve()
    chosen = corpus.select([module.name for module in corpus.modules[::_STRIDE]])
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        setup = CompileSetup(clang, PROBLEM, CompileLimits(), available_cores(), max_failure_ratio=0.0)
        trace_corpus(folder, chosen, setup, "benchmark")
        small, large = _in_a_child(folder, _SMALL), _in_a_child(folder, _LARGE)
    return [
        at_least("vocabulary of an eviction trace", large["rate"], "observations/s", 400_000),
        at_most("memory for a trace four times as long", large["bytes"] / small["bytes"], "x", 1.15),
        Row("memory for 800,000 observations", large["bytes"] / 1e6, "MB"),
    ]


def child(folder: str, count: int) -> None:
    """Makes the vocabulary of at least `count` observations out of those in `folder`; prints the seconds as JSON."""
    # The names are all that is repeated: every module is read as often as a longer trace would have modules.
    trace = _Repeated.of(pathlib.Path(folder), count)
    with tempfile.TemporaryDirectory() as directory:
        start = time.perf_counter()
        build_vocabulary(pathlib.Path(directory), trace, PROBLEM, VocabularyConfig(), seed=1)
        seconds = time.perf_counter() - start
    observations = sum(record.decisions for record in trace.records.values())
    print(json.dumps({"rate": observations / seconds}))


class _Repeated(Trace):
    """A trace whose module `K/NAME` has the decisions of `NAME`."""

    @staticmethod
    def of(folder: pathlib.Path, count: int) -> "_Repeated":
        modules = folder / "modules"
        names = sorted(str(path.relative_to(modules).with_suffix("")) for path in modules.rglob("*.json"))
        once = {name: read_record(modules / f"{name}.json") for name in names}
        each = sum(record.decisions for record in once.values())
        turns = -(-count // each)
        return _Repeated(folder, {f"{turn}/{name}": record for turn in range(turns) for name, record in once.items()})

    def decisions(self, name, problem):
        return super().decisions(name.partition("/")[2], problem)


def _in_a_child(folder: pathlib.Path, count: int) -> dict[str, float]:
    """{"rate": observations per second, "bytes": largest resident set}."""
    program = _CHILD.format(path=sys.path, folder=str(folder), count=count)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None  # It is a pipe.
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise AssertionError(f"the benchmark's child ended with {process.returncode}")
    return {**json.loads(said), "bytes": usage.ru_maxrss * 1024}
