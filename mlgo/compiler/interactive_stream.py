"""LLVM's interactive channel: bytes made into observations, and decisions into bytes, without file, process or clock.

The compiler writes the records of a training log (training_log.py) without decisions and outcomes: a JSON header line
whose `advice` is the decision's tensor; `{"context":NAME}` lines, one per function (inlining: one for the module, named
""); and per decision `{"observation":I}`, a newline, the raw little-endian tensors in header order, and a newline
(llvm/lib/Analysis/InteractiveModelRunner.cpp and TrainingLogger.cpp, LLVM 22.1.8).

A decision that the compiler may not be given is refused here. LLVM's release archives check nothing: an eviction
outside the mask is memory corruption there, a priority that is no 32-bit unsigned integer is undefined behaviour.
"""

import contextlib
import dataclasses
import re
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mlgo.compiler.training_log import MAX_HEADER_BYTES, TrainingLogError, check_interactive_header, context_name
from mlgo.compiler.training_log_scan import MAX_LINE_BYTES
from mlgo.problems.problem import Problem

_OBSERVATION = re.compile(rb'\{"observation":([0-9]{1,18})\}\n')
_COMPILE_AGAIN = "compile the module again; if it happens again, check the compiler"


@dataclasses.dataclass(frozen=True, slots=True)
class Observation:
    """What the compiler shows before a decision."""

    context: str  #: the function's name; "" for inlining, which decides for the whole module.
    number: int  #: counts the decisions of this context from 0.
    #: name -> read-only array of the problem's dtype and shape. The arrays are the same ones for every observation and
    #: hold the next one's values once this one is answered: copy what is to be kept.
    features: Mapping[str, np.ndarray]


class ObservationStream:
    """Takes bytes as they come (`feed`) and gives observations (`next_observation`)."""

    def __init__(self, problem: Problem, name: str, include_default: bool = False):
        """`name` is what messages call the channel; `include_default` as in `Problem.interactive_specs`."""
        self._problem, self._name, self._include_default = problem, name, include_default
        self._buffer = bytearray()
        self._begin = 0  # of the bytes that are not yet interpreted
        self._position = 0  # of _begin in the stream, for messages
        self._header: bytes | None = None
        self._context: str | None = None
        self._expected_number: int | None = None
        # Observations are copied here, 3.4 KB at most: the arrays over it are then made once, not per decision.
        specs = problem.interactive_specs(include_default)
        self._record = bytearray(sum(spec.byte_count for spec in specs))
        self._features: dict[str, np.ndarray] = {}
        offset = 0
        for spec in specs:
            array = np.frombuffer(self._record, spec.dtype, spec.element_count, offset).reshape(spec.shape)
            array.flags.writeable = False
            self._features[spec.name] = array
            offset += spec.byte_count

    def feed(self, data: bytes) -> None:
        """Takes the next bytes."""
        del self._buffer[: self._begin]
        self._begin = 0
        self._buffer += data

    def next_observation(self) -> Observation | None:
        """None: more bytes are needed. Raises: TrainingLogError: no compiler of this problem says this."""
        while self._begin < len(self._buffer):
            match = _OBSERVATION.match(self._buffer, self._begin) if self._header else None
            if match is not None:
                return self._observation(int(match[1]), match.end())
            newline = self._buffer.find(b"\n", self._begin)
            length = (newline if newline >= 0 else len(self._buffer)) - self._begin
            if length > (MAX_LINE_BYTES if self._header else MAX_HEADER_BYTES):
                raise self._error(f"a line has more than the {MAX_LINE_BYTES} bytes allowed")
            if newline < 0:
                return None
            self._line(bytes(self._buffer[self._begin : newline]))
            self._advance(newline + 1)
        return None

    def finish(self) -> None:
        """Says that nothing more will come. Raises: TrainingLogError: the stream ends inside something."""
        if self._begin == len(self._buffer):
            return
        if self._header and _OBSERVATION.match(self._buffer, self._begin):
            raise self._error("the channel ends inside an observation")
        raise self._error(f"the channel ends with {bytes(self._buffer[self._begin :][:40])!r}, inside a line")

    def _observation(self, number: int, body: int) -> Observation | None:
        stop = body + len(self._record)
        if stop >= len(self._buffer):
            return None
        if self._context is None:
            raise self._error("an observation comes before the first context")
        if self._expected_number is not None and number != self._expected_number:
            raise self._error(f"after observation {self._expected_number - 1} comes {number}")
        if self._buffer[stop] != 0x0A:
            raise self._error(f"the newline after the {len(self._record)} bytes of tensors is missing")
        self._record[:] = self._buffer[body:stop]
        self._expected_number = number + 1
        self._advance(stop + 1)
        return Observation(self._context, number, self._features)

    def _line(self, line: bytes) -> None:
        if self._header is None:
            check_interactive_header(line, self._problem, self._include_default, self._name)
            self._header = line
        # A compiler with two advisors of one kind would open the channel twice and say the same header again.
        elif line != self._header:
            if (name := context_name(line)) is None:
                raise self._error(f"{line[:80]!r} is no context or observation line")
            self._context, self._expected_number = name, None

    def _advance(self, begin: int) -> None:
        self._position += begin - self._begin
        self._begin = begin

    def _error(self, wrong: str) -> TrainingLogError:
        return TrainingLogError(f"{self._name} at byte {self._position}", wrong, _COMPILE_AGAIN)


class WrongAnswerError(ValueError):
    """A decision which is not one of those the compiler allows here; it was not sent."""


_FORMAT = {"int64": "<q", "int32": "<i", "float32": "<f"}


def encoder(problem: Problem) -> Callable[[Any, Mapping[str, np.ndarray]], bytes]:
    """The function that checks and encodes a decision of `problem` for an observation with these features.

    It takes a Python or NumPy number, or an array that holds one, and raises WrongAnswerError unless it is
      choice: an integer (not a bool) whose position in the mask is 1;
      binary: 0, 1, or a bool;
      number: finite as float32 and within the problem's action_bounds.
    """
    pack = struct.Struct(_FORMAT[problem.action_spec.dtype]).pack
    integers, flags, numbers = (int, np.integer), (bool, np.bool_), (int, float, np.integer, np.floating)

    def refused(allowed: str, decision: Any) -> WrongAnswerError:
        return WrongAnswerError(f"{problem.action_spec.name} must be {allowed}, not {decision!r}")

    def choice(decision: Any, position: Any, features: Mapping[str, np.ndarray]) -> bytes:
        if isinstance(position, bool) or not isinstance(position, integers):
            raise refused("an integer", decision)
        assert problem.mask_feature is not None and problem.action_count is not None  # Of a categorical decision.
        mask = features[problem.mask_feature]
        if not (0 <= position < problem.action_count and mask.item(position) == 1):
            raise refused(f"one of the positions {np.flatnonzero(mask).tolist()}, which the mask allows", decision)
        return pack(position)

    def binary(decision: Any, answer: Any, _) -> bytes:
        if not isinstance(answer, (*integers, np.bool_)) or answer not in (0, 1):
            raise refused("0 or 1", decision)
        return pack(int(answer))

    def number(decision: Any, value: Any, _) -> bytes:
        assert problem.action_bounds is not None  # Of a continuous decision.
        lowest, highest = problem.action_bounds
        if isinstance(value, flags) or not isinstance(value, numbers):
            raise refused("a number", decision)
        with contextlib.suppress(OverflowError, struct.error):
            data = pack(value)
            # As float32 it may be larger than it was; NaN is within nothing.
            if lowest <= struct.unpack("<f", data)[0] <= highest:
                return data
        raise refused(f"a number from {lowest:.10g} to {highest:.10g}", decision)

    encode = {"categorical": choice, "binary": binary, "continuous": number}[problem.decision_kind]

    def encoded(decision: Any, features: Mapping[str, np.ndarray]) -> bytes:
        holds_one = isinstance(decision, np.ndarray) and decision.size == 1
        return encode(decision, decision.reshape(-1)[0] if holds_one else decision, features)

    return encoded
