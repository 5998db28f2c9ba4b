"""Reads LLVM's training logs into the arrays that training consumes.

Format (llvm/lib/Analysis/TrainingLogger.cpp, LLVM 22.1.8): a JSON header line with the features, the decision last;
then per context a JSON line `{"context":"NAME"}`, per observation `{"observation":I}`, a newline, the raw little-endian
tensors in header order and a newline; and optional `{"outcome":I}` lines, each followed by the raw tensor of the score
and a newline. A context (a function) may have no observations. The compiler may open one function twice in a row,
because X86 allocates tile registers in a separate pass; such neighbours become one context.
"""

import collections
import dataclasses
import functools
import json
import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from mlgo.compiler import training_log_scan
from mlgo.compiler.training_log_scan import Layout, Scan, ScanFailure
from mlgo.problems.problem import Problem
from mlgo.problems.tensor import LOG_TYPE_OF_NUMPY_NAME, NUMPY_NAME_OF_LOG_TYPE, TensorSpec
from mlgo.run import files
from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import open_regular

# A log above this size is refused before it is read. The largest of the built-in corpus has about 30 MB.
MAX_LOG_BYTES = 4 * 1024**3
# The eviction header has 1.6 KB; this leaves room for hundreds of features.
MAX_HEADER_BYTES = 1 << 20
# A model may log extra outputs of its own; their size multiplies with the observations, so it is capped.
MAX_EXTRA_OUTPUT_ELEMENTS = 1 << 16
# NumPy 1 has arrays of up to 32 dimensions, of which one counts observations.
MAX_DIMENSIONS = 31

_COMPILE_AGAIN = "compile the module again; if it happens again, check the disk and the compiler"
_OTHER_COMPILER = "use the development clang that belongs to this version (//development:clang)"


class TrainingLogError(RunError):
    """A training log is damaged or of another problem; names the log, the byte offset and the remedy."""


@dataclasses.dataclass(frozen=True)
class TrainingLog:
    """The content of one log: C contexts, N observations, in the order of the log."""

    contexts: list[str]  #: C names (function names), as in the log.
    observation_context: np.ndarray  #: int32 [N], index into `contexts`, non-decreasing.
    features: dict[str, np.ndarray]  #: observation name -> array [N, *shape] with the dtype of the problem's spec.
    actions: np.ndarray  #: array [N] of the decision's dtype (its shape is [1] in every problem).
    outcomes: np.ndarray  #: float32 [C], the last score logged for the context; NaN when there is none.
    #: further outputs of the model that are logged: name -> array [N, *shape]; and what the compiler's heuristic would
    #: have decided, for a problem with a `default_decision_spec`, under its name.
    extra_outputs: dict[str, np.ndarray]

    @property
    def observation_count(self) -> int:
        return len(self.actions)


def read_training_log(
    path: str | os.PathLike[str], problem: Problem, name: str | None = None, no_code: Callable[[], bool] = lambda: False
) -> TrainingLog:
    """Reads the log in the file at `path`; `name` is what messages call it.

    Raises: TrainingLogError: the log is missing, truncated, damaged, above MAX_LOG_BYTES, or its tensors are not those
      of `problem`. A log without any context is an error too, unless `no_code`, which is asked only then, says that no
      function was compiled; one without observations is not.
    """
    name = name or f"training log {os.fspath(path)}"
    try:
        with open_regular(path) as descriptor:
            size = os.fstat(descriptor).st_size
            if size == 0:
                raise TrainingLogError(name, "is empty", _COMPILE_AGAIN)
            if size > MAX_LOG_BYTES:
                wrong = f"has {size} bytes, more than the {MAX_LOG_BYTES} allowed"
                raise TrainingLogError(name, wrong, "leave this module out of the corpus")
            header, body_offset = _split_header(os.pread(descriptor, MAX_HEADER_BYTES + 1, 0), name)
            layout = read_header(header, problem, name)
            os.lseek(descriptor, body_offset, os.SEEK_SET)
            scan = functools.partial(training_log_scan.scan_file, descriptor, body_offset, size - body_offset, layout)
            return interpret(scan, layout, problem, name, no_code)
    except FileNotFoundError as error:
        wrong = f"was not written: the compile ended well without the advisor of {problem.name}"
        remedy = f"compile the module at {problem.levels.described()}, with no option that turns its pass off"
        raise TrainingLogError(name, wrong, remedy) from error
    except OSError as error:
        raise TrainingLogError(name, f"cannot be read: {error.strerror}", _COMPILE_AGAIN) from error


def interpret(
    scan_body, layout: Layout, problem: Problem, name: str, no_code: Callable[[], bool] = lambda: False
) -> TrainingLog:
    """What `scan_body` found, with names; for both scanners. Raises: TrainingLogError: the log is damaged."""
    try:
        scan: Scan = scan_body()
    except ScanFailure as failure:
        raise _explain(failure, layout, name) from failure
    if not scan.context_lines and not no_code():
        raise TrainingLogError(f"{name} after the header", "holds no context: no function was compiled", _COMPILE_AGAIN)
    observed = len(problem.observation_specs)
    arrays = {spec.name: tensor for spec, tensor in zip(layout.tensors, scan.tensors)}
    return TrainingLog(
        contexts=_context_names(scan, name),
        observation_context=scan.observation_context,
        features={spec.name: arrays[spec.name] for spec in problem.observation_specs},
        actions=scan.tensors[-1].reshape(-1),
        outcomes=scan.outcomes,
        extra_outputs={spec.name: arrays[spec.name] for spec in layout.tensors[observed:-1]},
    )


def read_header(line: bytes, problem: Problem, name: str) -> Layout:
    """What an observation of this log consists of, checked against the problem.

    Raises: TrainingLogError: the header is not one, or declares other tensors than the problem's.
    """
    at = f"{name} at byte 0"
    header = _header_object(line, at)
    tensors = tuple(_tensor_spec(entry, at) for entry in header["features"])

    def check(what: str, expected: TensorSpec | None, found: TensorSpec | None, verb: str, absent: str) -> None:
        if found != expected:
            wrong = f"{what} {_described(expected)}, {verb} {_described(found, absent)}"
            raise TrainingLogError(at, wrong, _OTHER_COMPILER)

    decision = tensors[-1] if tensors else None
    check(f"the decision of {problem.name} is", problem.action_spec, decision, "this log's is", "nothing")
    for index, spec in enumerate(problem.observation_specs):
        found = tensors[index] if index < len(tensors) - 1 else None
        check(f"feature {index} of {problem.name} is", spec, found, "in this log it is", "absent")
    names = [spec.name for spec in tensors]
    if twice := next((name for name, count in collections.Counter(names).items() if count > 1), None):
        remedy = "rename that output in the model's output_spec.json"
        raise TrainingLogError(at, f"the header names {twice!r} twice", remedy)
    if (default := problem.default_decision_spec) is not None:
        check(f"before the decision of {problem.name} stands", default, tensors[-2], "in this log", "")
    score = None if header.get("score") is None else _tensor_spec(header["score"], at)
    if score is not None:
        check(f"the score of {problem.name} is", problem.logged_score_spec, score, "this log's is", "")
    checked_actions = problem.action_count if problem.action_spec.dtype == "int64" else None
    return Layout(tensors, checked_actions or 0, score is not None)


def check_interactive_header(line: bytes, problem: Problem, include_default: bool, name: str) -> None:
    """Checks the header of an interactive channel: exactly the problem's tensors, in its order, and its decision.

    Raises: TrainingLogError: the header is not one, or declares other tensors.
    """
    at = f"{name} at byte 0"
    header = _header_object(line, at)
    declared = (*header["features"], header.get("advice"))
    expected = (*problem.interactive_specs(include_default), problem.action_spec)
    for index in range(max(len(declared), len(expected))):
        wanted = _described(expected[index]) if index < len(expected) else "not known"
        found = _described(_tensor_spec(declared[index], at)) if index < len(declared) else "absent"
        if wanted != found:
            wrong = f"tensor {index} of {problem.name} is {wanted}, in this channel it is {found}"
            raise TrainingLogError(at, wrong, "use clang 22")


def _header_object(line: bytes, at: str) -> dict[str, Any]:
    try:
        header = files.parse_json(line, at, _COMPILE_AGAIN)
    except RunError as error:
        raise TrainingLogError(at, f"the header {error.wrong}", _COMPILE_AGAIN) from error
    if not isinstance(header, dict) or not isinstance(header.get("features"), list):
        raise TrainingLogError(at, 'the header is not an object with a list "features"', _COMPILE_AGAIN)
    return header


def _tensor_spec(entry: Any, at: str) -> TensorSpec:
    try:
        shape = tuple(entry["shape"])
        sizes = all(type(size) is int and size > 0 for size in shape) and len(shape) <= MAX_DIMENSIONS
        if not sizes or math.prod(shape) > MAX_EXTRA_OUTPUT_ELEMENTS:
            raise ValueError(f"shape {str(list(shape)):.100} is empty, negative or too large")
        if not isinstance(entry["name"], str):
            raise ValueError("its name is not a string")
        if entry["type"] not in NUMPY_NAME_OF_LOG_TYPE:
            raise ValueError(f"type {entry['type']!r} is none of {', '.join(NUMPY_NAME_OF_LOG_TYPE)}")
        return TensorSpec(entry["name"], NUMPY_NAME_OF_LOG_TYPE[entry["type"]], shape)
    except (KeyError, TypeError, ValueError) as error:
        shown = json.dumps(entry)[:200]
        raise TrainingLogError(at, f"the header describes a tensor as {shown}: {error!r}", _COMPILE_AGAIN) from error


def _described(spec: TensorSpec | None, absent: str = "absent") -> str:
    return absent if spec is None else f"{spec.name} {LOG_TYPE_OF_NUMPY_NAME[spec.dtype]}{list(spec.shape)}"


def _split_header(start: bytes, name: str) -> tuple[bytes, int]:
    newline = start.find(b"\n", 0, MAX_HEADER_BYTES + 1)
    if newline < 0:
        longer = len(start) > MAX_HEADER_BYTES
        wrong = f"has no newline in its first {MAX_HEADER_BYTES} bytes" if longer else "has no header line"
        raise TrainingLogError(f"{name} at byte 0", wrong, _COMPILE_AGAIN)
    return start[:newline], newline + 1


def context_name(line: bytes) -> str | None:
    """NAME of the line {"context": NAME}; None: it is another."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry["context"] if _is_context(entry) else None


def _is_context(entry: Any) -> bool:
    return type(entry) is dict and entry.keys() == {"context"} and type(entry["context"]) is str


def _context_names(scan: Scan, name: str) -> list[str]:
    # One call of the JSON parser for all lines is ten times faster than one call per line.
    try:
        entries = json.loads(b"[" + b",".join(scan.context_lines) + b"]")
        if len(entries) == len(scan.context_lines) and all(map(_is_context, entries)):
            return [entry["context"] for entry in entries]
    except (ValueError, RecursionError):
        pass
    for line, offset in zip(scan.context_lines, scan.context_offsets):
        if context_name(line) is None:
            wrong = f'the context line {line[:80]!r} is not {{"context":NAME}}'
            raise TrainingLogError(f"{name} at byte {offset}", wrong, _COMPILE_AGAIN)
    raise AssertionError("each context line is valid, all together are not")


def _explain(failure: ScanFailure, layout: Layout, name: str) -> TrainingLogError:
    wrong = failure.error.wrong.format(last_action=layout.action_count - 1)
    if failure.system_error:
        wrong += f": {os.strerror(failure.system_error)}"
    wrong += f" (after {failure.observations} whole observations)"
    return TrainingLogError(f"{name} at byte {failure.offset}", wrong, _COMPILE_AGAIN)
