"""Many iterations of learning over a compiler that costs nothing: what grows with their number.

The learning loop is the real one, with checkpoints, validations and figures. The corpus is of made-up modules
(fake_executor.py), the problem and its default algorithm are given.
"""

import dataclasses
import gc
import os
import pathlib
import time
import tracemalloc
from collections.abc import Iterator

from mlgo.compiler.request import CompileLimits
from mlgo.compiler.testing import fake_clang
from mlgo.corpus.corpus import Corpus
from mlgo.learning.network import initial_network
from mlgo.learning.normalization import load_normalizer
from mlgo.problems.problem import load_problem
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import Trace, trace_corpus
from mlgo.trace.vocabulary import build_vocabulary
from mlgo.training.figures import Metrics
from mlgo.training.learning_loop import LearningInputs, LearningLoop
from mlgo.training.settings import configure
from tests.load.fake_executor import FakeExecutor

_MODULES, _VALIDATION = 12, 2


@dataclasses.dataclass(frozen=True)
class Usage:
    """What the process and the run hold after so many iterations.

    Attributes:
      iterations: how many there have been.
      seconds: of processor time, per iteration since the usage before.
      megabytes: of memory that the process holds.
      python_bytes: allocated by Python, if they are traced.
      files: below the run's folder.
      folder_bytes: of these files.
      descriptors, threads: of this process.
    """

    iterations: int
    seconds: float
    megabytes: float
    python_bytes: int
    files: int
    folder_bytes: int
    descriptors: int
    threads: int


class ManyIterations:
    """A run of the learning stage in `folder`; `run` yields its usage now and then.

    Args:
      problem: name of a problem; its default algorithm learns.
      total: iterations of the run.
    """

    def __init__(self, folder: pathlib.Path, problem: str, total: int):
        self._folder, self._total = folder, total
        settings = {"problem": problem, "iterations": total, "modules_per_iteration": 1, "validation_interval": 5}
        configurations = configure(settings, [], [])
        setup = CompileSetup(pathlib.Path("clang"), load_problem(problem), CompileLimits(), 1, 0.0, FakeExecutor())
        corpus = _made_up_corpus(folder / "corpus")
        trace_corpus(folder / "trace", corpus, setup, "trace")
        trace = Trace.load(folder / "trace", corpus)
        build_vocabulary(folder / "vocabulary", trace, setup.problem, configurations.vocabulary, 1)
        network = configurations.network
        normalizer = load_normalizer(folder / "vocabulary", setup.problem, network.segments, network.knots)
        names = [module.name for module in corpus.modules]
        self.loop = LearningLoop(
            folder / "learning",
            initial_network(normalizer, 1, network),
            LearningInputs(
                corpus.select(names[_VALIDATION:]), corpus.select(names[:_VALIDATION]), trace.records, setup
            ),
            configurations,
            folder / "work",
            Metrics(folder),
        )

    def run(self, every: int) -> Iterator[Usage]:
        """Runs all iterations; yields the usage after each `every` of them."""
        begin = time.process_time()
        for done in range(1, self._total + 1):
            self.loop.iterate()
            if done % every == 0:
                yield self._usage(done, (time.process_time() - begin) / every)
                begin = time.process_time()

    def _usage(self, iterations: int, seconds: float) -> Usage:
        gc.collect()
        status = dict(
            line.split(":", 1) for line in pathlib.Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        )
        sizes = [
            os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(self._folder) for name in names
        ]
        return Usage(
            iterations,
            seconds,
            int(status["VmRSS"].split()[0]) / 1024,
            tracemalloc.get_traced_memory()[0],
            len(sizes),
            sum(sizes),
            len(os.listdir("/proc/self/fd")),
            int(status["Threads"]),
        )


def _made_up_corpus(folder: pathlib.Path) -> Corpus:
    functions = [{f"f{number}": 4 + index % 3 for number in range(3)} for index in range(_MODULES)]
    modules = {f"m{index}": fake_clang.FakeModule.bitcode(each) for index, each in enumerate(functions)}
    fake_clang.write_corpus(folder, modules)
    return Corpus.load(folder)
