"""How the modules of a run are compiled: the settings that every stage shares."""

import dataclasses
import pathlib
from collections.abc import Callable

from mlgo.compiler.code_size import ObjectCode
from mlgo.compiler.executor import Executor, LocalExecutor
from mlgo.compiler.request import CompileLimits
from mlgo.problems.problem import Problem
from mlgo.score.problem_score import score_of


@dataclasses.dataclass(frozen=True)
class CompileSetup:
    """What compiles of one run have in common.

    Attributes:
      clang: a development clang.
      problem: whose decisions are made and recorded.
      limits: what one compile may use.
      workers: compiles at a time, >= 1; changes no result.
      max_failure_ratio: which part of a stage's modules may fail, in [0, 1].
      executor: where compiles run; changes no result. None: on this machine, `workers` at a time.
      extra_flags: further cc1 flags, after those of the module.
      wants_objects: whether object files are wanted where the score does not need them.
      code_of_bitcode: for a score that is the size of the code: says of optimised bitcode, and the module's name for messages, what
        code it would become; no object is made then. Raises RunError. None: the object says it.
    """

    clang: pathlib.Path
    problem: Problem
    limits: CompileLimits
    workers: int
    max_failure_ratio: float
    executor: Executor | None = None
    extra_flags: tuple[str, ...] = ()
    wants_objects: bool = False
    code_of_bitcode: Callable[[bytes, str], ObjectCode] | None = None

    def __post_init__(self):
        if self.workers < 1 or not 0 <= self.max_failure_ratio <= 1:
            raise ValueError(f"workers must be >= 1 and max_failure_ratio in [0, 1]: {self}")
        if self.code_of_bitcode is not None and (not score_of(self.problem).needs_object or self.wants_objects):
            raise ValueError(
                f"code_of_bitcode is for problems whose score is the size of the code, and makes no objects: {self}"
            )
        if self.executor is None:
            object.__setattr__(self, "executor", LocalExecutor(self.workers))
