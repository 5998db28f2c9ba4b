"""Checks a compiler before a run depends on it."""

import os
import pathlib
import tempfile

from mlgo.compiler.attempts import certain_outcome
from mlgo.compiler.request import CompileFailure, CompileLimits, CompileRequest, FailureKind
from mlgo.corpus.corpus import Module
from mlgo.problems.problem import STOCK, Problem
from mlgo.run.exit_codes import RunError

# Textual IR is as good as bitcode for -x ir. One function, so that the register allocator runs and opens its log.
_MODULE = """\
target triple = "x86_64-pc-linux-gnu"
define i32 @preflight(i32 %a, i32 %b) {
  %sum = add i32 %a, %b
  ret i32 %sum
}
"""
_COMMAND = ("-cc1", "-triple", "x86_64-pc-linux-gnu", "-O2", "-disable-free")
_LIMITS = CompileLimits(cpu_seconds=30, log_bytes=64 * 1024**2)

_BUILD_IT = "build the training compiler with ./bazelw build //development:clang"


def preflight(clang: str | os.PathLike[str], problem: Problem) -> None:
    """Compiles a tiny module with the problem's advisor in development mode and reads the log.

    Raises: RunError: clang does not run, has no ML support, has not our patches and the problem wants them, or logs
      other tensors than the problem's.
    """
    clang = pathlib.Path(clang)
    read = f"compiler {clang}"
    if not clang.is_file() or not os.access(clang, os.X_OK):
        raise RunError(read, "is not an executable file", _BUILD_IT)
    failure = _failure(clang, problem)
    if failure is None:
        return
    wrong, remedy = f"fails on a module of one function: {failure.kind.value}, {failure.detail}", _BUILD_IT
    if failure.kind == FailureKind.BAD_FLAGS:
        wanted = " ".join(problem.development_flags("LOG", None))
        wrong = f"has no ML support for {problem.name}: it does not know the flags {wanted} ({failure.detail})"
        if problem.features_of_ours and _failure(clang, problem.for_stock_compilers()) is None:
            wrong = f"logs decisions, but without our patches it cannot tell all that {problem.name} wants"
            wrong, remedy = f"{wrong} ({failure.detail})", f"Give --problem={problem.folder}+{STOCK}, or {_BUILD_IT}"
    raise RunError(read, wrong, remedy)


def _failure(clang: pathlib.Path, problem: Problem) -> CompileFailure | None:
    with tempfile.TemporaryDirectory(prefix="mlgo-preflight-") as directory:
        bitcode = pathlib.Path(directory, "preflight.ll")
        bitcode.write_text(_MODULE, encoding="ascii")
        module = Module.at("preflight", bitcode, _COMMAND)
        request = CompileRequest(clang.absolute(), module, problem, limits=_LIMITS, workdir=pathlib.Path(directory))
        outcome = certain_outcome(request)
    return outcome if isinstance(outcome, CompileFailure) else None
