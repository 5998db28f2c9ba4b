"""What one decision over LLVM's interactive channel costs, with a stock clang, for each problem.

Measured is a whole turn, from one observation to the next: our answer, the compiler going on, its next question, our
reading. What the compiler computes in between is contained, so this is an upper bound of the round trip. The median
over all decisions of a module leaves out the turns in which a whole pass lies; of several rounds the least disturbed
one counts, for each turn switches twice between two processes, which wait for a core each time on a machine that is
busy otherwise.
"""

import statistics
import time

from mlgo.compiler.interactive import InteractiveCompile
from mlgo.compiler.request import CompileRequest, CompileResult
from mlgo.corpus.corpus import Corpus
from mlgo.problems.problem import load_problem
from mlgo.run import locate
from tests.benchmarks import row

#: Issue 3, "Interactive mode".
MOST_MILLISECONDS = 0.3

_MODULE = "llvm/lib/Support/YAMLParser.cpp"
_ROUNDS = 5

#: Problem -> an answer that costs next to nothing, from the features.
_ANSWERS = {
    "regalloc_eviction": lambda features: features["mask"].argmax(),
    "inlining_for_size": lambda features: features["cost_estimate"] < 5,
    "regalloc_priority": lambda features: features["li_size"],
}


def measure() -> list[row.Row]:
    corpus = Corpus.load(locate.runfile("mlgo/corpus/llvm_small_held_out")).select([_MODULE])
    clang = locate.runfile("mlgo/environments/packaged_clang")
    rows = []
    for name, answer in _ANSWERS.items():
        request = CompileRequest(clang, corpus.modules[0], load_problem(name), want_log=False, want_object=True)
        milliseconds = 1000 * min(statistics.median(_turns(request, answer)) for _ in range(_ROUNDS))
        rows.append(row.at_most(f"interactive: one {name} decision", milliseconds, "ms", MOST_MILLISECONDS))
    return rows


def _turns(request: CompileRequest, answer) -> list[float]:
    """Seconds from each observation to the next."""
    moments = []
    with InteractiveCompile(request) as session:
        for observation in session:
            moments.append(time.perf_counter())
            session.answer(answer(observation.features))
    if not isinstance(session.outcome, CompileResult):
        raise AssertionError(f"{request.module.name} failed: {session.outcome.kind.value}, {session.outcome.detail}")
    return [later - earlier for earlier, later in zip(moments, moments[1:])]
