"""Wall time of the default trace over the built-in corpus on all cores, against xargs running the same compiler
commands.

Both sides write their logs to the same disk and keep nothing of the objects. Ours also reads the logs, stores decisions
and scores, and watches every compiler. In turns A B B A, the faster run of each side counts.
"""

import os
import pathlib
import shlex
import subprocess
import tempfile
import time

from mlgo.compiler.compile import clang_command
from mlgo.compiler.executor import available_cores
from mlgo.compiler.request import CompileLimits, CompileRequest
from mlgo.compiler.scratch import scratch_directory
from mlgo.corpus.corpus import Corpus
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run import locate
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import trace_corpus
from tests.benchmarks.row import Row, at_most


def measure() -> list[Row]:
    """The rows of this benchmark; takes about three minutes on two cores."""
    corpus = Corpus.load(locate.runfile("mlgo/corpus/llvm_small"))
    clang = locate.runfile("development/clang").resolve()
    return compare(corpus, clang)


def compare(corpus: Corpus, clang: pathlib.Path) -> list[Row]:
    """Traces `corpus` twice in each way."""
    seconds: dict[str, list[float]] = {"ours": [], "xargs": []}
    for side in ("ours", "xargs", "xargs", "ours"):
        run = _trace if side == "ours" else _xargs
        seconds[side].append(run(corpus, clang))
    ours, other = min(seconds["ours"]), min(seconds["xargs"])
    return [
        at_most("default trace of the built-in corpus, against xargs", ours / other, "x", 1.10),
        Row("default trace of the built-in corpus", ours, "s"),
        Row("the same compiler commands through xargs", other, "s"),
    ]


def _trace(corpus: Corpus, clang: pathlib.Path) -> float:
    setup = CompileSetup(clang, PROBLEM, CompileLimits(), available_cores(), max_failure_ratio=0.0)
    with tempfile.TemporaryDirectory() as directory:
        start = time.perf_counter()
        trace_corpus(pathlib.Path(directory), corpus, setup, "benchmark")
        return time.perf_counter() - start


def _xargs(corpus: Corpus, clang: pathlib.Path) -> float:
    with scratch_directory() as directory:
        scripts = []
        for index, module in enumerate(corpus.modules):
            place = pathlib.Path(directory, str(index))
            place.mkdir()
            (place / "module.bc").symlink_to(module.bitcode_file().resolve())
            command = shlex.join(clang_command(CompileRequest(clang, module, PROBLEM)))
            script = place / "compile.sh"
            script.write_text(f"cd {shlex.quote(str(place))} && exec {command}\n", encoding="utf-8")
            scripts.append(os.fsencode(script))
        start = time.perf_counter()
        subprocess.run(
            ["xargs", "-0", "-n1", f"-P{available_cores()}", "/bin/sh"], input=b"\0".join(scripts), check=True
        )
        return time.perf_counter() - start
