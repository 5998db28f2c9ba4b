"""What one decision over LLVM's interactive channel costs: the compiler's question, our reading, our answer, its going on.

The same modules are compiled by the same stock clang with and without the channel, in turns, with the same decisions
(inlining: the default's own, so that both do the same work). The difference per decision contains the compiler's work on
the features as well, so it is an upper bound of the round trip. Of several rounds the least disturbed one counts: each
decision switches twice between two processes, which on a busy machine wait for a core each time.
"""

import time

from mlgo.compiler.compile import compile_module
from mlgo.compiler.interactive import InteractiveCompile
from mlgo.compiler.request import CompileRequest, CompileResult
from mlgo.corpus.corpus import Corpus
from mlgo.problems.problem import load_problem
from mlgo.run import locate
from tests.benchmarks import row

#: Issue 3, "Interactive mode".
MOST_MILLISECONDS = 0.3

_MODULES = ("llvm/lib/Object/GOFFObjectFile.cpp", "llvm/lib/Support/YAMLParser.cpp", "llvm/lib/TargetParser/Triple.cpp")
_ROUNDS = 5


def measure() -> list[row.Row]:
    corpus = Corpus.load(locate.runfile("mlgo/corpus/llvm_small_held_out")).select(list(_MODULES))
    clang = locate.runfile("mlgo/environments/packaged_clang")
    problem = load_problem("inlining_for_size")
    requests = [
        CompileRequest(clang, module, problem, want_log=False, want_object=True, extra_flags=("-Oz",))
        for module in corpus.modules
    ]
    milliseconds = []
    for _ in range(_ROUNDS):
        plain = sum(_seconds(request) for request in requests)
        took, decisions = zip(*(_interactive_seconds(request) for request in requests))
        milliseconds.append(1000 * (sum(took) - plain) / sum(decisions))
    return [row.at_most("interactive: one decision", min(milliseconds), "ms", MOST_MILLISECONDS)]


def _seconds(request: CompileRequest) -> float:
    start = time.perf_counter()
    outcome = compile_module(request)
    return _checked(outcome, time.perf_counter() - start)


def _interactive_seconds(request: CompileRequest) -> tuple[float, int]:
    start = time.perf_counter()
    decisions = 0
    with InteractiveCompile(request, include_default=True) as session:
        for observation in session:
            session.answer(observation.features["inlining_default"])
            decisions += 1
    return _checked(session.outcome, time.perf_counter() - start), decisions


def _checked(outcome, seconds: float) -> float:
    if not isinstance(outcome, CompileResult):
        raise AssertionError(f"{outcome.module_name} failed: {outcome.kind.value}, {outcome.detail}")
    return seconds
