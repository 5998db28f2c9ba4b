"""Reads LLVM's training logs into the arrays that training consumes.

Format (llvm/lib/Analysis/TrainingLogger.cpp, LLVM 22.1.8): a JSON header line with the features, the decision last; then
per context a JSON line `{"context":"NAME"}`, per observation `{"observation":I}`, a newline, the raw little-endian
tensors in header order and a newline; and optional `{"outcome":I}` lines followed by the score's raw tensor and a newline.
A context (a function) may have no observations, and the compiler may open the same function twice in a row (X86 allocates
tile registers in a pass of its own): such neighbours are one context here.
"""

import dataclasses
import os

import numpy as np

from mlgo.problems.problem import Problem, TensorSpec
from mlgo.run.exit_codes import RunError

# A log above this size is refused before it is read. The largest of the built-in corpus has about 30 MB.
MAX_LOG_BYTES = 4 * 1024**3


class TrainingLogError(RunError):
    """A training log is damaged or of another problem; names the log, the byte offset and the remedy."""


@dataclasses.dataclass(frozen=True)
class TrainingLog:
    """The content of one log: C contexts, N observations, in the order of the log.

    Attributes:
      contexts: C names (function names), as in the log.
      observation_context: int32 [N], index into `contexts`, non-decreasing.
      features: observation name -> array [N, *shape] with the dtype of the problem's spec.
      actions: array [N] of the decision's dtype (its shape is [1] in every problem).
      outcomes: float32 [C], the last score logged for the context; NaN when there is none.
      extra_outputs: further outputs of the model which it was told to log: name -> array [N, *shape].
    """

    contexts: list[str]
    observation_context: np.ndarray
    features: dict[str, np.ndarray]
    actions: np.ndarray
    outcomes: np.ndarray
    extra_outputs: dict[str, np.ndarray]

    @property
    def observation_count(self) -> int:
        return len(self.actions)


def read_training_log(source: str | os.PathLike[str] | bytes, problem: Problem) -> TrainingLog:
    """Reads the log in a file, or in memory when `source` is bytes.

    Raises:
      TrainingLogError: the log is missing, truncated, damaged, above MAX_LOG_BYTES, or its tensors are not those of
        `problem`. A log without any context is an error too; one without observations is not.
    """
    raise NotImplementedError
