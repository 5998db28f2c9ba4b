"""Wall time of an iteration's compiles on all cores, against xargs running the same compiler commands.

Every held-out module is compiled under several policies, with its decisions logged: by processes, by compile servers,
and by xargs, which only runs the commands. Ours also reads the logs and watches every compiler. The modules are
optimised before, as in training, for problems whose decisions come after that. In turns A B C C B A, the faster run of
each counts.
"""

import contextlib
import os
import pathlib
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence

from mlgo.compiler.compile import clang_command
from mlgo.compiler.executor import Executor, LocalExecutor, available_cores
from mlgo.compiler.inputs import place_inputs
from mlgo.compiler.request import CompileFailure, CompileLimits, CompileRequest
from mlgo.compiler.scratch import scratch_directory
from mlgo.compiler.server_executor import executor_for
from mlgo.corpus.corpus import Corpus
from mlgo.problems.problem import load_problem
from mlgo.run import locate
from mlgo.trace.optimised_corpus import optimise_corpus
from mlgo.trace.setup import CompileSetup
from tests.benchmarks.row import Row, at_most

#: Compiles of each module, as in an iteration of training (RunSettings.samples_per_module).
SAMPLES = 4
#: Short name in tests/policies, name of the problem, whether its modules are optimised before.
_PROBLEMS = (("eviction", "regalloc_eviction", True), ("inlining", "inlining_for_size", False))
#: Targets.
MOST_BY_PROCESS, MOST_BY_SERVER = 1.05, 0.7


def measure() -> list[Row]:
    """The rows of this benchmark; takes about four minutes on two cores."""
    corpus = Corpus.load(locate.runfile("mlgo/corpus/llvm_small_held_out"))
    clang = locate.runfile("development/clang")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for short, problem_name, optimised in _PROBLEMS:
            problem = load_problem(problem_name)
            modules = corpus.modules
            if optimised:
                optimised_folder = pathlib.Path(folder, short)
                setup = CompileSetup(clang, problem, CompileLimits(), available_cores(), max_failure_ratio=0.0)
                optimise_corpus(optimised_folder, corpus, setup, f"benchmark, {short}")
                modules = Corpus.load(optimised_folder).modules
            # Two policies in turn, so that neither side sees the same compile twice in a row.
            models = [
                locate.runfile(f"tests/policies/{kind}_{short}_tflite/model.tflite").parent
                for kind in ("random", "fewer_features")
            ]
            requests = [
                CompileRequest(clang, module, problem, model_dir=models[sample % 2], want_object=not optimised)
                for module in modules
                for sample in range(SAMPLES)
            ]
            rows += compare(short, requests)
    return rows


def compare(title: str, requests: Sequence[CompileRequest]) -> list[Row]:
    """Compiles `requests` twice in each way."""
    clang = requests[0].clang
    sides: dict[str, Callable[[], float]] = {
        "processes": lambda: _executed(requests, LocalExecutor(available_cores())),
        "servers": lambda: _executed(requests, executor_for(clang, available_cores())),
        "xargs": lambda: _xargs(requests),
    }
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    for side in (*sides, *reversed(sides)):
        seconds[side].append(sides[side]())
    best = {side: min(times) for side, times in seconds.items()}
    name = f"collection of {title}, {SAMPLES} policies a module"
    return [
        at_most(f"{name}: by processes, against xargs", best["processes"] / best["xargs"], "x", MOST_BY_PROCESS),
        at_most(f"{name}: by compile servers, against xargs", best["servers"] / best["xargs"], "x", MOST_BY_SERVER),
        Row(f"{name}: the same compiler commands through xargs", best["xargs"], "s"),
    ]


def _executed(requests: Sequence[CompileRequest], executor: Executor) -> float:
    with contextlib.closing(executor):
        start = time.perf_counter()
        for outcome in executor.run_ordered(requests):
            if isinstance(outcome, CompileFailure):
                raise RuntimeError(f"{outcome.module_name}: {outcome.kind.value}: {outcome.detail}")
        return time.perf_counter() - start


def _xargs(requests: Sequence[CompileRequest]) -> float:
    with scratch_directory() as directory:
        scripts = []
        for index, request in enumerate(requests):
            place = os.path.join(directory, str(index))
            os.mkdir(place)
            place_inputs(request, place)
            script = pathlib.Path(place, "compile.sh")
            # Outputs that are not read must not fill the memory disk.
            script.write_text(
                f"cd {shlex.quote(place)} && {shlex.join(clang_command(request))} && rm training.log module.o\n",
                encoding="utf-8",
            )
            scripts.append(os.fsencode(script))
        start = time.perf_counter()
        subprocess.run(
            ["xargs", "-0", "-n1", f"-P{available_cores()}", "/bin/sh"], input=b"\0".join(scripts), check=True
        )
        return time.perf_counter() - start
