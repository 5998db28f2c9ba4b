"""What one compiler optimisation is, as data: what the policy sees, decides and is scored by.

Everything downstream (compiling, tracing, learning, shipping) is written against `Problem` and knows no particular
optimisation. A problem lives in its own folder below mlgo/problems/, in `problem.py`, under the name `PROBLEM`.
"""

import dataclasses
import importlib
import math
import re
from typing import Literal

# Element types of LLVM's training logs (llvm/include/llvm/Analysis/TensorSpec.h, SUPPORTED_TENSOR_TYPES) which any
# of the ML advisors uses, by their C++ name in the log's header, and the numpy name of the same type.
NUMPY_NAME_OF_LOG_TYPE = {"float": "float32", "int64_t": "int64", "int32_t": "int32"}
LOG_TYPE_OF_NUMPY_NAME = {numpy_name: log_type for log_type, numpy_name in NUMPY_NAME_OF_LOG_TYPE.items()}
ITEM_BYTES = {"float32": 4, "int64": 8, "int32": 4}

_PROBLEM_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclasses.dataclass(frozen=True)
class TensorSpec:
    """A named tensor: `dtype` is a numpy name (float32, int64 or int32), `shape` has only positive sizes."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    def __post_init__(self):
        if self.dtype not in ITEM_BYTES:
            raise ValueError(
                f"tensor {self.name!r}: dtype {self.dtype!r} cannot be logged; use one of {', '.join(ITEM_BYTES)}"
            )
        if not all(isinstance(size, int) and size > 0 for size in self.shape):
            raise ValueError(f"tensor {self.name!r}: shape {self.shape} must hold positive integers only")

    @property
    def element_count(self) -> int:
        return math.prod(self.shape)

    @property
    def byte_count(self) -> int:
        """Bytes of one value of this tensor in a training log (dense, little-endian)."""
        return self.element_count * ITEM_BYTES[self.dtype]


@dataclasses.dataclass(frozen=True)
class Problem:
    """One optimisation whose decisions a policy can take.

    Attributes:
      name: folder name below mlgo/problems/, e.g. "regalloc_eviction".
      observation_specs: what the compiler shows the policy, in the order in which it logs it.
      action_spec: the decision; `action_spec.name` is also the name of the model's output.
      action_count: number of possible decisions (0 .. action_count - 1), None when the decision is not a choice.
      mask_feature: observation with the shape [1, action_count] that is 1 where a decision is legal, or None.
      score_spec: what the compiler logs as the outcome of a context (one function or one module).
      score_goal: "minimize" when a smaller score is better code.
      advisor_flag, log_flag, model_flag: LLVM options, without leading dash: the mode of the advisor, the training
        log's path, the directory of the TFLite model under training.
      model_input_prefix: what LLVM puts before an observation's name to get the model input's name.
      model_only_inputs: inputs which the training model must have and which LLVM leaves at zero.
    """

    name: str
    observation_specs: tuple[TensorSpec, ...]
    action_spec: TensorSpec
    action_count: int | None
    mask_feature: str | None
    score_spec: TensorSpec
    score_goal: Literal["minimize", "maximize"]
    advisor_flag: str
    log_flag: str
    model_flag: str
    model_input_prefix: str = "action_"
    model_only_inputs: tuple[TensorSpec, ...] = (
        TensorSpec("action_discount", "float32", (1,)),
        TensorSpec("action_step_type", "int32", (1,)),
        TensorSpec("action_reward", "float32", (1,)),
    )

    def __post_init__(self):
        if not _PROBLEM_NAME.fullmatch(self.name):
            raise ValueError(f"problem name {self.name!r} must be a folder name like regalloc_eviction")
        names = [spec.name for spec in self.observation_specs] + [self.action_spec.name]
        if len(set(names)) != len(names):
            raise ValueError(f"problem {self.name}: two tensors have the same name among {names}")
        if self.mask_feature is not None:
            mask = self.observation_spec(self.mask_feature)
            if mask.element_count != self.action_count:
                raise ValueError(
                    f"problem {self.name}: mask {mask.name} has {mask.element_count} elements for "
                    f"{self.action_count} decisions; they must be as many"
                )

    @property
    def observation_bytes(self) -> int:
        """Bytes of all observed tensors and the decision of one observation in a log without extra outputs."""
        return sum(spec.byte_count for spec in (*self.observation_specs, self.action_spec))

    def observation_spec(self, name: str) -> TensorSpec:
        for spec in self.observation_specs:
            if spec.name == name:
                return spec
        raise KeyError(f"problem {self.name} has no observation {name!r}; it has {[s.name for s in self.observation_specs]}")

    def development_flags(self, log_path: str | None, model_dir: str | None) -> list[str]:
        """cc1 flags for a development clang: log decisions to `log_path`, take them from `model_dir`.

        Without a model the compiler's default heuristic decides. LLVM refuses development mode with neither.

        Raises: ValueError: neither a log nor a model is given.
        """
        if log_path is None and model_dir is None:
            raise ValueError(f"{self.name}: development mode needs a training log, a model, or both; both are None")
        flags = ["-mllvm", f"-{self.advisor_flag}=development"]
        if log_path is not None:
            flags += ["-mllvm", f"-{self.log_flag}={log_path}"]
        if model_dir is not None:
            flags += ["-mllvm", f"-{self.model_flag}={model_dir}"]
        return flags

    def release_flags(self) -> list[str]:
        """cc1 flags for a release clang which carries this problem's policy."""
        return ["-mllvm", f"-{self.advisor_flag}=release"]


def load_problem(name: str) -> Problem:
    """The problem in the folder mlgo/problems/<name>.

    Raises: ValueError: there is no such folder, or it exports no PROBLEM.
    """
    if not _PROBLEM_NAME.fullmatch(name):
        raise ValueError(f"problem name {name!r} is not a folder name; give one like regalloc_eviction")
    try:
        module = importlib.import_module(f"mlgo.problems.{name}.problem")
        return module.PROBLEM
    except (ModuleNotFoundError, AttributeError) as error:
        raise ValueError(
            f"problem {name!r}: cannot load PROBLEM from mlgo/problems/{name}/problem.py ({error}); "
            "check the name, and that the target you run depends on //mlgo/problems"
        ) from error
