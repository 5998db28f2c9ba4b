"""The interface of scanners of a training log's body: input, result, errors.

There are two scanners with one behaviour: `training_log_native` (fast, C++) and `training_log_reference` (plain
Python).
"""

import dataclasses
import enum

import numpy as np

from mlgo.problems.tensor import TensorSpec

#: Longest context, observation or outcome line; kMaxLineBytes in training_log_reader.cc.
MAX_LINE_BYTES = 1 << 20

#: Bytes of the shortest observation line, `{"observation":0}` and a newline.
MIN_OBSERVATION_LINE_BYTES = 18


class ScanError(enum.IntEnum):
    """How a log can be damaged; numbers are those of training_log_reader.cc."""

    NONE = 0
    TRUNCATED_LINE = 1
    LINE_TOO_LONG = 2
    UNKNOWN_LINE = 3
    TRUNCATED_TENSORS = 4
    MISSING_NEWLINE = 5
    OBSERVATION_ORDER = 6
    OUTCOME_ORDER = 7
    NO_CONTEXT_YET = 8
    SCORE_NOT_DECLARED = 9
    ACTION_OUT_OF_RANGE = 10
    CANNOT_READ = 11
    TOO_MANY_OBSERVATIONS = 12
    NO_MEMORY = 13


@dataclasses.dataclass(frozen=True)
class Layout:
    """What one observation of a log consists of.

    Attributes:
      tensors: all tensors of an observation, in the order of the log.
      action_index: which of them is the decision.
      action_count: int64 decisions must lie in [0, action_count); 0 when they are not checked.
      has_score: whether outcome lines are allowed; an outcome is one float32.
    """

    tensors: tuple[TensorSpec, ...]
    action_index: int
    action_count: int
    has_score: bool

    @property
    def record_bytes(self) -> int:
        return sum(spec.byte_count for spec in self.tensors)

    def capacity(self, body_bytes: int) -> int:
        """No log body of `body_bytes` bytes holds more observations than this."""
        return body_bytes // (MIN_OBSERVATION_LINE_BYTES + self.record_bytes + 1)


class ScanFailure(Exception):
    """A scanner met `error` at byte `offset` of the log, after `observations` whole observations."""

    def __init__(self, error: ScanError, offset: int, observations: int, system_error: int = 0):
        super().__init__(f"{error.name} at byte {offset} after {observations} observations")
        self.error = error
        self.offset = offset
        self.observations = observations
        self.system_error = system_error


@dataclasses.dataclass(frozen=True)
class Scan:
    """What a scanner found: N observations in C contexts.

    Attributes:
      context_lines: C context lines without newline, undecoded JSON.
      context_offsets: C byte offsets of these lines in the log.
      observation_context: int32 [N].
      tensors: one array [N, *shape] for each tensor of the layout.
      outcomes: float32 [C], NaN when the context has none.
    """

    context_lines: list[bytes]
    context_offsets: list[int]
    observation_context: np.ndarray
    tensors: list[np.ndarray]
    outcomes: np.ndarray
