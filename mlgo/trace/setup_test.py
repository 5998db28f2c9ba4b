import pathlib
import unittest

from mlgo.compiler.code_size import FunctionCode, ObjectCode
from mlgo.compiler.request import (
    CompileFailure,
    CompileLimits,
    CompileOutcome,
    CompileRequest,
    CompileResult,
    FailureKind,
)
from mlgo.corpus.corpus import Module
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.score.problem_score import score_of
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import compile_modules

_CLANG = pathlib.Path("/nowhere/clang")


class _FakeExecutor:
    """Answers every request with the outcome that `answer` has for it."""

    def __init__(self, answer):
        self._answer = answer

    def run_ordered(self, requests):
        yield from map(self._answer, requests)

    def close(self):
        pass


def _failed(request: CompileRequest) -> CompileFailure:
    return request.failure(FailureKind.CRASH, str(request.clang))


def _bitcode(request: CompileRequest) -> CompileOutcome:
    """The name of the module where bitcode is asked for, and a failure where it is not."""
    name = request.module.name
    if "-emit-llvm-bc" in request.extra_flags and request.want_object and name != "broken":
        return CompileResult(name, None, name.encode(), 0.0)
    return _failed(request)


def _length_of(bitcode: bytes, name: str) -> ObjectCode:
    assert bitcode.decode() == name
    return ObjectCode((FunctionCode("f", len(bitcode), None),), len(bitcode), len(bitcode))


class CompileSetupTest(unittest.TestCase):
    def test_modules_are_compiled_by_the_executor_given(self):
        setup = CompileSetup(_CLANG, PROBLEM, CompileLimits(), 1, 0.0, executor=_FakeExecutor(_failed))
        modules = [Module.at(name, f"/nowhere/{name}.bc", []) for name in ("a", "b")]
        outcomes = compile_modules(modules, setup, [None, None])
        failures = [(each.module_name, each.detail) for _, each in outcomes if isinstance(each, CompileFailure)]
        self.assertEqual(failures, [("a", str(_CLANG)), ("b", str(_CLANG))])

    def test_code_may_be_said_of_bitcode(self):
        executor = _FakeExecutor(_bitcode)
        setup = CompileSetup(_CLANG, INLINING, CompileLimits(), 1, 0.0, executor, code_of_bitcode=_length_of)
        modules = [Module.at(name, f"/nowhere/{name}.bc", []) for name in ("a", "broken", "four")]
        a, broken, four = (outcome for _, outcome in compile_modules(modules, setup, [None] * 3))
        assert isinstance(a, CompileResult) and isinstance(four, CompileResult)
        self.assertEqual([score_of(INLINING).read(each)["f"].score for each in (a, four)], [1.0, 4.0])
        self.assertIsNone(four.object_bytes)
        self.assertIsInstance(broken, CompileFailure)

    def test_contradictions(self):
        with self.assertRaisesRegex(ValueError, "code_of_bitcode is for problems whose score is the size"):
            CompileSetup(_CLANG, PROBLEM, CompileLimits(), 1, 0.0, code_of_bitcode=_length_of)
        with self.assertRaisesRegex(ValueError, "workers must be >= 1"):
            CompileSetup(_CLANG, PROBLEM, CompileLimits(), workers=0, max_failure_ratio=0.0)
