"""An executor that compiles nothing: it answers every request in this process, in microseconds.

The corpus is one of fake modules (mlgo/compiler/testing/fake_clang.py). Features are random and depend on the module's
content, decisions and scores on the content and the policy. Equal requests get equal answers.
"""

import functools
import hashlib
import json
from collections.abc import Generator, Iterable

import numpy as np

from mlgo.compiler.code_size import FunctionCode, ObjectCode
from mlgo.compiler.request import CompileRequest, CompileResult
from mlgo.compiler.training_log import TrainingLog
from mlgo.problems.objective import CodeSize
from mlgo.problems.problem import Problem

#: Values of integer features lie below this.
_INTEGERS = 4


class FakeExecutor:
    """See Executor (mlgo/compiler/executor.py)."""

    def run_ordered(self, requests: Iterable[CompileRequest]) -> Generator[CompileResult, None, None]:
        for request in requests:
            yield _compile(request)

    def close(self) -> None:
        """Nothing is kept."""


def _compile(request: CompileRequest) -> CompileResult:
    content = request.module.read_bitcode()
    name, problem = request.module.name, request.problem
    if problem is None:
        raise ValueError(f"{name}: the fake compiles under a problem only")
    if not request.want_log and not isinstance(problem.score, CodeSize):
        return CompileResult(name, None, content, 0.0)
    model = b"" if request.model_dir is None else (request.model_dir / "model.tflite").read_bytes()
    random = np.random.default_rng(int.from_bytes(hashlib.sha256(content + model).digest()[:8], "little"))
    contexts, of_observation, features = _observations(content, problem)
    log = TrainingLog(
        list(contexts),
        of_observation,
        dict(features),
        _decisions(features, len(of_observation), problem, random),
        random.uniform(100.0, 200.0, len(contexts)).astype(np.float32),
        {},
    )
    if not isinstance(problem.score, CodeSize):
        return CompileResult(name, log, None, 0.0)
    functions = tuple(FunctionCode(f"f{index}", int(random.integers(50, 60)), None) for index in range(len(contexts)))
    size = sum(function.size for function in functions)
    return CompileResult(
        name, log if request.want_log else None, None, 0.0, estimated_code=ObjectCode(functions, size, size)
    )


@functools.lru_cache(maxsize=64)
def _observations(content: bytes, problem: Problem) -> tuple[list[str], np.ndarray, dict[str, np.ndarray]]:
    """(contexts, the context of each observation, features) of a module."""
    functions = json.loads(content)["functions"]
    of_observation = np.repeat(np.arange(len(functions), dtype=np.int32), list(functions.values()))
    random = np.random.default_rng(int.from_bytes(hashlib.sha256(content).digest()[:8], "little"))
    features = {}
    for spec in problem.observation_specs:
        shape = (len(of_observation), *spec.shape)
        drawn = random.random(shape) if spec.dtype == "float32" else random.integers(0, _INTEGERS, shape)
        features[spec.name] = drawn.astype(spec.dtype)
    if problem.mask_feature is not None:
        mask = (features[problem.mask_feature] == 0).astype(np.int64)
        mask[..., -1] = 1
        features[problem.mask_feature] = mask
    # A call site's name is "CALLER\nCALLEE" where credit goes by caller.
    separator = "\nleaf" if isinstance(problem.score, CodeSize) else ""
    return [f"{name}{separator}" for name in functions], of_observation, features


def _decisions(
    features: dict[str, np.ndarray], count: int, problem: Problem, random: np.random.Generator
) -> np.ndarray:
    """[count]: random legal decisions."""
    if problem.mask_feature is None:
        return random.integers(0, 2, count)
    legal = features[problem.mask_feature].reshape(count, -1) > 0
    return np.where(legal, random.random(legal.shape), -1.0).argmax(axis=1)
