"""What LLVM's IR2Vec embeddings cost a decision of the inliner: CPU time of compiles with and without them.

A policy that does not know embeddings decides in both, so the objects are equal and the difference is LLVM's work for
the embeddings (and, once in a compile, for the vocabulary). What the policy itself costs is in decision.py.
"""

import dataclasses

from mlgo.compiler.compile import compile_module
from mlgo.compiler.request import CompileFailure, CompileRequest, CompileResult
from mlgo.corpus.corpus import Corpus
from mlgo.problems.problem import load_problem
from mlgo.run import locate
from tests.benchmarks.row import Row

_MODULES, _ROUNDS = 6, 5
_CORPUS = "mlgo/corpus/llvm_small_oz_held_out"


def measure() -> list[Row]:
    """The rows of this benchmark; takes about two minutes on two cores."""
    modules = sorted(
        Corpus.load(locate.runfile(_CORPUS)).modules, key=lambda module: (module.bitcode_size, module.name)
    )
    middle = modules[len(modules) // 2 :][:_MODULES]
    model = locate.runfile("tests/policies/random_inlining_tflite/model.tflite").parent
    clang = locate.runfile("development/clang")
    decisions, seconds = 0, {False: 0.0, True: 0.0}
    for module in middle:
        plain = CompileRequest(
            clang, module, load_problem("inlining_for_size"), model, want_log=False, want_object=True
        )
        shown = dataclasses.replace(plain, problem=load_problem("inlining_for_size+ir2vec"))
        log = _compiled(dataclasses.replace(plain, want_log=True)).log
        assert log is not None  # It was asked for.
        decisions += log.observation_count
        rounds = [(_compiled(plain), _compiled(shown)) for _ in range(_ROUNDS)]
        if any(without.object_bytes != with_them.object_bytes for without, with_them in rounds):
            raise RuntimeError(f"{module.name}: embeddings changed the object of a policy that does not know them")
        seconds[False] += min(without.cpu_seconds for without, _ in rounds)
        seconds[True] += min(with_them.cpu_seconds for _, with_them in rounds)
    each = (seconds[True] - seconds[False]) / decisions * 1e6
    return [
        Row("LLVM's IR2Vec embeddings, per decision of the inliner", each, "us"),
        Row("LLVM's IR2Vec embeddings, compile time against without", seconds[True] / seconds[False], "x"),
    ]


def _compiled(request: CompileRequest) -> CompileResult:
    outcome = compile_module(request)
    if isinstance(outcome, CompileFailure):
        raise RuntimeError(f"{outcome.module_name}: {outcome.kind.value}: {outcome.detail}")
    return outcome
