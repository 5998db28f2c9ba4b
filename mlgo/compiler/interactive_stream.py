"""LLVM's interactive channel: bytes made into observations, and decisions into bytes, without file, process or clock.

The compiler writes the records of a training log (training_log.py) without decisions and outcomes: a JSON header line
whose `advice` is the decision's tensor; `{"context":NAME}` lines, one per function (inlining: one for the module, named
""); and per decision `{"observation":I}`, a newline, the raw little-endian tensors in header order, and a newline
(llvm/lib/Analysis/InteractiveModelRunner.cpp and TrainingLogger.cpp, LLVM 22.1.8).

A decision that the compiler may not be given is refused here. LLVM's release archives check nothing: an eviction
outside the mask is memory corruption there, a priority that is no 32-bit unsigned integer is undefined behaviour.
"""

import dataclasses
import json
import re
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mlgo.compiler.training_log import MAX_HEADER_BYTES, TrainingLogError, check_interactive_header, is_context
from mlgo.compiler.training_log_scan import MAX_LINE_BYTES
from mlgo.problems.problem import Problem

# An observation has 0.3 to 3.4 KB; a read takes what a pipe holds (64 KB), which is never more than one of them.
_BUFFER_BYTES = 1 << 16

_OBSERVATION = re.compile(rb'\{"observation":([0-9]{1,18})\}\n')
_COMPILE_AGAIN = "compile the module again; if it happens again, check the compiler"


@dataclasses.dataclass(frozen=True, slots=True)
class Observation:
    """What the compiler shows before a decision.

    Attributes:
      context: the function's name; "" for inlining, which decides for the whole module.
      number: counts the decisions of this context from 0.
      features: name -> read-only array of the problem's dtype and shape. The arrays are the same ones for every
        observation and hold the next one's values once this one is answered: copy what is to be kept.
    """

    context: str
    number: int
    features: Mapping[str, np.ndarray]


class ObservationStream:
    """Takes bytes as they come (`room`, `received`) and gives observations (`next_observation`)."""

    def __init__(self, problem: Problem, name: str, include_default: bool = False):
        """`name` is what messages call the channel; `include_default` as in `Problem.interactive_specs`."""
        self._problem = problem
        self._name = name
        self._include_default = include_default
        specs = problem.interactive_specs(include_default)
        self._record_bytes = sum(spec.byte_count for spec in specs)
        self._buffer = bytearray(max(_BUFFER_BYTES, 2 * self._record_bytes))
        self._view = memoryview(self._buffer)
        self._begin = self._end = 0  # the bytes that are not yet interpreted
        self._position = 0  # of _begin in the stream, for messages
        self._header: bytes | None = None
        self._context: str | None = None
        self._expected_number: int | None = None
        # Observations are copied here, 3.4 KB at most: the arrays over it are then made once, not per decision.
        record = bytearray(self._record_bytes)
        self._record = memoryview(record)
        self._features: dict[str, np.ndarray] = {}
        offset = 0
        for spec in specs:
            array = np.frombuffer(record, spec.dtype, spec.element_count, offset).reshape(spec.shape)
            array.flags.writeable = False
            self._features[spec.name] = array
            offset += spec.byte_count

    def room(self) -> memoryview:
        """Where to put the next bytes; never empty."""
        if self._begin == self._end:
            self._begin = self._end = 0
        elif self._end == len(self._buffer):
            kept = bytes(self._view[self._begin : self._end])
            if len(kept) > len(self._buffer) // 2:
                # A long line; `next_observation` refuses what is too long, so this ends.
                self._buffer = bytearray(2 * len(self._buffer))
                self._view = memoryview(self._buffer)
            self._view[: len(kept)] = kept
            self._begin, self._end = 0, len(kept)
        return self._view[self._end :]

    def received(self, count: int) -> None:
        """`count` bytes have been put at the beginning of `room()`."""
        self._end += count

    def next_observation(self) -> Observation | None:
        """The next observation; None: more bytes are needed.

        Raises: TrainingLogError: the bytes are not what a compiler of this problem says.
        """
        while self._begin < self._end:
            match = _OBSERVATION.match(self._buffer, self._begin, self._end) if self._header else None
            if match is not None:
                return self._observation(int(match[1]), match.end())
            newline = self._buffer.find(b"\n", self._begin, self._end)
            length = (newline if newline >= 0 else self._end) - self._begin
            if length > (MAX_LINE_BYTES if self._header else MAX_HEADER_BYTES):
                raise self._error(f"a line has more than the {MAX_LINE_BYTES} bytes allowed")
            if newline < 0:
                return None
            self._line(bytes(self._view[self._begin : newline]))
            self._advance(newline + 1)
        return None

    def finish(self) -> None:
        """Says that nothing more will come.

        Raises: TrainingLogError: the stream ends inside something.
        """
        if self._begin == self._end:
            return
        if self._header and _OBSERVATION.match(self._buffer, self._begin, self._end):
            raise self._error("the channel ends inside an observation")
        raise self._error(f"the channel ends with {bytes(self._view[self._begin : self._end][:40])!r}, inside a line")

    def _observation(self, number: int, body: int) -> Observation | None:
        stop = body + self._record_bytes
        if stop >= self._end:
            return None
        if self._context is None:
            raise self._error("an observation comes before the first context")
        if self._expected_number is not None and number != self._expected_number:
            raise self._error(f"after observation {self._expected_number - 1} comes {number}")
        if self._buffer[stop] != 0x0A:
            raise self._error(f"the newline after the {self._record_bytes} bytes of tensors is missing")
        self._record[:] = self._view[body:stop]
        self._expected_number = number + 1
        self._advance(stop + 1)
        return Observation(self._context, number, self._features)

    def _line(self, line: bytes) -> None:
        if self._header is None:
            check_interactive_header(line, self._problem, self._include_default, self._name)
            self._header = line
            return
        # A compiler with two advisors of one kind would open the channel twice and say the same header again.
        if line == self._header:
            return
        try:
            if is_context(entry := json.loads(line)):
                self._context, self._expected_number = entry["context"], None
                return
        except (ValueError, RecursionError):
            pass
        raise self._error(f"{line[:80]!r} is no context or observation line")

    def _advance(self, begin: int) -> None:
        self._position += begin - self._begin
        self._begin = begin

    def _error(self, wrong: str) -> TrainingLogError:
        return TrainingLogError(f"{self._name} at byte {self._position}", wrong, _COMPILE_AGAIN)


_FORMAT = {"int64": "<q", "int32": "<i", "float32": "<f"}

#: Makes bytes of a decision for an observation with these features.
Encoder = Callable[[Any, Mapping[str, np.ndarray]], bytes]


class WrongAnswerError(ValueError):
    """A decision which is not one of those the compiler allows here; it was not sent."""


def encoder(problem: Problem) -> Encoder:
    """The function that checks and encodes decisions of `problem`.

    It takes a Python or NumPy number, or an array that holds one, and raises WrongAnswerError unless it is
      choice: an integer (not a bool) whose position in the mask is 1;
      binary: 0, 1, or a bool;
      number: finite as float32 and within the problem's action_bounds.
    """
    pack = struct.Struct(_FORMAT[problem.action_spec.dtype]).pack
    allowed = f"{problem.action_spec.name} must be "

    def one(decision: Any) -> Any:
        if isinstance(decision, np.ndarray) and decision.size == 1:
            return decision.reshape(-1)[0]
        return decision

    def choice(decision: Any, features: Mapping[str, np.ndarray]) -> bytes:
        position = one(decision)
        if isinstance(position, bool) or not isinstance(position, (int, np.integer)):
            raise WrongAnswerError(f"{allowed}an integer, not {decision!r}")
        assert problem.mask_feature is not None and problem.action_count is not None  # Of a categorical decision.
        mask = features[problem.mask_feature]
        if not (0 <= position < problem.action_count and mask.item(position) == 1):
            legal = np.flatnonzero(mask).tolist()
            raise WrongAnswerError(f"{allowed}one of the positions {legal}, which the mask allows, not {decision!r}")
        return pack(position)

    def binary(decision: Any, _) -> bytes:
        answer = one(decision)
        if not isinstance(answer, (int, np.integer, np.bool_)) or answer not in (0, 1):
            raise WrongAnswerError(f"{allowed}0 or 1, not {decision!r}")
        return pack(int(answer))

    def number(decision: Any, _) -> bytes:
        assert problem.action_bounds is not None  # Of a continuous decision.
        lowest, highest = problem.action_bounds
        value = one(decision)
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise WrongAnswerError(f"{allowed}a number, not {decision!r}")
        try:
            data = pack(value)
        except (OverflowError, struct.error):
            data = None
        # As float32 it may be larger than it was; NaN is within nothing.
        if data is None or not lowest <= struct.unpack("<f", data)[0] <= highest:
            raise WrongAnswerError(f"{allowed}a number from {lowest:.10g} to {highest:.10g}, not {decision!r}")
        return data

    return {"categorical": choice, "binary": binary, "continuous": number}[problem.decision_kind]
