"""Compiles programs of the toy language on request, as an executor does modules."""

import pathlib
from collections.abc import Collection, Iterable, Iterator, Mapping

import numpy as np

from mlgo.compiler.code_size import FunctionCode, ObjectCode
from mlgo.compiler.request import CompileFailure, CompileRequest, CompileResult, FailureKind
from mlgo.compiler.training_log import TrainingLog
from mlgo.problems.problem import CodeSize, Problem, TensorSpec
from mlgo.search.build import Attempt, Build, Policy
from mlgo.search.decision_file import read
from mlgo.search.testing.toy_compiler import Function, ToyCompiler

#: Inlining in the toy language.
TOY_PROBLEM = Problem(
    name="toy_inlining",
    observation_specs=(TensorSpec("cost_estimate", "int64", (1,)),),
    action_spec=TensorSpec("decision", "int64", (1,)),
    action_count=2,
    mask_feature=None,
    score=CodeSize(),
    advisor_flag="toy-advisor",
    log_flag="toy-log",
    model_flag="toy-model",
    decision_kind="binary",
    decisions_flag="toy-decisions",
)
_FIELD_OF_LIMIT = "cost-below "


class ToyExecutor:
    """Compiles in this process. A model is a limit of cost that follows from its bytes.

    Args:
      programs: module → its program.
      requests: stops with KeyboardInterrupt after so many; None: never.
      failing: modules whose compiles fail.
    """

    def __init__(
        self, programs: Mapping[str, Mapping[str, Function]], requests: int | None = None, failing: Collection[str] = ()
    ):
        self._programs, self._left, self._failing = programs, requests, failing

    def run_ordered(self, requests: Iterable[CompileRequest]) -> Iterator[CompileResult | CompileFailure]:
        """See Executor."""
        for request in requests:
            if self._left == 0:
                raise KeyboardInterrupt
            self._left = self._left and self._left - 1
            name = request.module.name
            if name in self._failing:
                yield CompileFailure(name, FailureKind.CRASH, "crashed")
                continue
            build = ToyCompiler(self._programs[name], limit_of(request.model_dir)).build(_attempt(request))
            code = ObjectCode(
                tuple(FunctionCode(function, int(size), None) for function, size in build.sizes.items()),
                int(build.total),
                int(build.total),
            )
            yield CompileResult(name, _log(build), None, 1.0, estimated_code=code)

    def close(self) -> None:
        """Nothing is kept."""


def limit_of(model_dir: pathlib.Path | None) -> int:
    """The limit of cost below which the model inlines; None stands for the default heuristic."""
    return 10 if model_dir is None else sum((model_dir / "model.tflite").read_bytes()) % 31


def _attempt(request: CompileRequest) -> Attempt:
    if request.decisions is None:
        return Attempt(Policy("model"))
    (section,) = read(request.decisions, "decisions of a test")
    if section.otherwise.startswith(_FIELD_OF_LIMIT):
        limit = int(section.otherwise.removeprefix(_FIELD_OF_LIMIT))
        return Attempt(Policy(section.otherwise, cost_limit=limit), section.decisions)
    return Attempt(Policy(section.otherwise), section.decisions)


def _log(build: Build) -> TrainingLog:
    count = len(build.decided)
    return TrainingLog(
        list(build.decided),
        np.arange(count, dtype=np.int32),
        {"cost_estimate": np.array(list(build.costs.values()), np.int64).reshape(count, 1)},
        np.array(list(build.decided.values()), np.int64),
        np.full(count, np.nan, np.float32),
        {},
    )
