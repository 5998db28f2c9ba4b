"""How the modules of a run are compiled: the settings that all stages share."""

import dataclasses
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

from mlgo.compiler.code_size import ObjectCode
from mlgo.compiler.executor import Executor, LocalExecutor, Outcomes
from mlgo.compiler.request import CompileLimits, CompileRequest
from mlgo.corpus.corpus import Module
from mlgo.problems.problem import Problem
from mlgo.score.problem_score import score_of


@dataclasses.dataclass(frozen=True)
class CompileSetup:
    """What the compiles of one run have in common."""

    clang: pathlib.Path  #: a development clang.
    problem: Problem
    limits: CompileLimits
    workers: int  #: concurrent compiles, >= 1; changes no result.
    max_failure_ratio: float  #: the part of a stage's modules that may fail, in [0, 1].
    #: where compiles run; changes no result. None: on this machine, `workers` at a time.
    executor: Executor | None = None
    extra_flags: tuple[str, ...] = ()  #: further cc1 flags, after those of the module.
    wants_objects: bool = False  #: whether compiles also return object files that the score does not need.
    #: for a score that is the size of the code: estimates the code from (optimised bitcode, name of the module for
    #: messages) in place of generating it; raises RunError. None: code is generated and measured.
    code_of_bitcode: Callable[[bytes, str], ObjectCode] | None = None

    def __post_init__(self):
        if self.workers < 1 or not 0 <= self.max_failure_ratio <= 1:
            raise ValueError(f"workers must be >= 1 and max_failure_ratio in [0, 1]: {self}")
        if self.code_of_bitcode is not None and (not score_of(self.problem).needs_object or self.wants_objects):
            wrong = f"code_of_bitcode is for problems whose score is the size of the code, and makes no objects: {self}"
            raise ValueError(wrong)

    def request(self, module: Module, **asked: Any) -> CompileRequest:
        """A compile of `module`. Args: asked: fields of CompileRequest besides those of the setup."""
        return CompileRequest(self.clang, module, self.problem, limits=self.limits, **asked)

    def run_ordered(self, requests: Iterable[CompileRequest]) -> Outcomes:
        """Compiles `requests` where the setup says; see `Executor`."""
        return (self.executor or LocalExecutor(self.workers)).run_ordered(requests)
