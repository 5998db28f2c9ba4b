"""Scans a training log's body in C++, through ctypes and without Python's global lock: input, result, errors.

For tests, testing/training_log_reference.py does the same in plain Python.
"""

import contextlib
import ctypes
import dataclasses
import enum
import functools
import mmap

import numpy as np

from mlgo.problems.tensor import TensorSpec
from mlgo.run import locate

#: Longest context, observation or outcome line; kMaxLineBytes in training_log_reader.cc.
MAX_LINE_BYTES = 1 << 20

#: Bytes of the shortest observation line, `{"observation":0}` and a newline.
MIN_OBSERVATION_LINE_BYTES = 18


class ScanError(enum.IntEnum):
    """How a log can be damaged; numbers are those of training_log_reader.cc, texts are for messages."""

    wrong: str

    def __new__(cls, number: int, wrong: str = ""):
        member = int.__new__(cls, number)
        member._value_, member.wrong = number, wrong
        return member

    TRUNCATED_LINE = 1, "the log ends inside a line"
    LINE_TOO_LONG = 2, "a line is longer than the 1 MiB allowed"
    UNKNOWN_LINE = 3, "this is no context, observation or outcome line"
    TRUNCATED_TENSORS = 4, "the log ends inside a tensor"
    MISSING_NEWLINE = 5, "the newline after the tensors is missing"
    OBSERVATION_ORDER = 6, "the observation does not have the number after the previous one's"
    OUTCOME_ORDER = 7, "the outcome does not belong to the last observation"
    NO_CONTEXT_YET = 8, "an observation or outcome comes before the first context"
    SCORE_NOT_DECLARED = 9, "there is an outcome, but the header declares no score"
    ACTION_OUT_OF_RANGE = 10, "the decision is not one of 0..{last_action}"
    CANNOT_READ = 11, "reading failed"
    TOO_MANY_OBSERVATIONS = 12, "the log grew while it was read"
    NO_MEMORY = 13, "there is not enough memory"


@dataclasses.dataclass(frozen=True)
class Layout:
    """What one observation of a log consists of."""

    #: All tensors of an observation, in the order of the log; the decision is the last.
    tensors: tuple[TensorSpec, ...]
    action_count: int  #: int64 decisions must lie in [0, action_count); 0 when they are not checked.
    has_score: bool  #: whether outcome lines are allowed; an outcome is one float32.

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
        self.error, self.offset, self.observations, self.system_error = error, offset, observations, system_error


@dataclasses.dataclass(frozen=True)
class Scan:
    """What a scanner found: N observations in C contexts."""

    context_lines: list[bytes]  #: C context lines without newline, undecoded JSON.
    context_offsets: list[int]  #: C byte offsets of these lines in the log.
    observation_context: np.ndarray  #: int32 [N].
    tensors: list[np.ndarray]  #: one array [N, *shape] for each tensor of the layout.
    outcomes: np.ndarray  #: float32 [C], NaN when the context has none.


# Where large pages begin to pay; arrays begin on cache lines.
_HUGE_BYTES = 4 << 20
_ALIGNMENT = 64

_LIBRARY = "mlgo/compiler/libtraining_log_reader.so"


class _Scan(ctypes.Structure):
    _fields_ = [
        ("error", ctypes.c_int32),
        ("system_error", ctypes.c_int32),
        ("error_offset", ctypes.c_int64),
        ("observations", ctypes.c_int64),
        ("contexts", ctypes.c_int64),
        ("context_text_bytes", ctypes.c_int64),
        ("context_text", ctypes.c_void_p),
        ("context_offset", ctypes.POINTER(ctypes.c_int64)),
        ("outcome", ctypes.c_void_p),
    ]


class _Layout(ctypes.Structure):
    _fields_ = [
        ("tensor_count", ctypes.c_int32),
        ("tensor_bytes", ctypes.POINTER(ctypes.c_int64)),
        ("destination", ctypes.POINTER(ctypes.c_void_p)),
        ("observation_context", ctypes.c_void_p),
        ("capacity", ctypes.c_int64),
        ("action_tensor", ctypes.c_int32),
        ("action_count", ctypes.c_int64),
        ("has_score", ctypes.c_int32),
    ]


@functools.cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(locate.runfile(_LIBRARY)))
    library.mlgo_log_scan.restype = ctypes.POINTER(_Scan)
    c_int64 = ctypes.c_int64
    library.mlgo_log_scan.argtypes = [ctypes.c_int, ctypes.c_char_p, c_int64, c_int64, ctypes.POINTER(_Layout)]
    library.mlgo_log_free.restype = None
    library.mlgo_log_free.argtypes = [ctypes.POINTER(_Scan)]
    return library


def _allocate(layout: Layout, capacity: int) -> list[np.ndarray]:
    """One array [capacity, *shape] per tensor. What is never written is never backed by memory, so slack is free."""
    if capacity * layout.record_bytes < _HUGE_BYTES:
        return [np.empty((capacity, *spec.shape), spec.dtype) for spec in layout.tensors]
    ends = np.cumsum([-(-capacity * spec.byte_count // _ALIGNMENT) * _ALIGNMENT for spec in layout.tensors]).tolist()
    # A mapping with 2 MiB pages has one fault per 2 MiB, not per 4 KiB: faults cost more than the copying. Shared
    # memory, the default, has no such pages.
    block = mmap.mmap(-1, ends[-1], flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # a kernel without them is only slower
        block.madvise(mmap.MADV_HUGEPAGE)
    tensors = []
    for spec, begin in zip(layout.tensors, [0, *ends]):
        flat = np.frombuffer(block, spec.dtype, capacity * spec.element_count, begin)
        tensors.append(flat.reshape(capacity, *spec.shape))
    return tensors


def scan_file(descriptor: int, offset: int, body_bytes: int, layout: Layout) -> Scan:
    """Scans from an open file whose position is `offset`; at most `body_bytes` are expected to follow.

    Raises: ScanFailure: the log is damaged, cannot be read, or grew while it was read.
    """
    capacity = layout.capacity(body_bytes)
    tensors = _allocate(layout, capacity)
    observation_context = np.empty(capacity, np.int32)
    count = len(layout.tensors)
    native_layout = _Layout(
        tensor_count=count,
        tensor_bytes=(ctypes.c_int64 * count)(*(spec.byte_count for spec in layout.tensors)),
        destination=(ctypes.c_void_p * count)(*(tensor.ctypes.data for tensor in tensors)),
        observation_context=observation_context.ctypes.data,
        capacity=capacity,
        action_tensor=count - 1,
        action_count=layout.action_count,
        has_score=int(layout.has_score),
    )
    library = _library()
    found = library.mlgo_log_scan(descriptor, None, 0, offset, ctypes.byref(native_layout))
    if not found:
        raise ScanFailure(ScanError.NO_MEMORY, offset, 0)
    try:
        result = found.contents
        if result.error:
            raise ScanFailure(ScanError(result.error), result.error_offset, result.observations, result.system_error)
        text = ctypes.string_at(result.context_text, result.context_text_bytes) if result.contexts else b""
        used = result.observations
        return Scan(
            context_lines=text.split(b"\n")[:-1],
            context_offsets=result.context_offset[: result.contexts],
            observation_context=observation_context[:used],
            tensors=[tensor[:used] for tensor in tensors],
            outcomes=np.frombuffer(ctypes.string_at(result.outcome, 4 * result.contexts), np.float32),
        )
    finally:
        library.mlgo_log_free(found)
