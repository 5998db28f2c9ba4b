"""The training-log scanner in plain Python: the definition that the C++ one is tested against. Slow; only for tests."""

import re

import numpy as np

from mlgo.compiler.training_log_scan import MAX_LINE_BYTES, Layout, Scan, ScanError, ScanFailure

_OBSERVATION = re.compile(rb'\{"observation":([0-9]{1,18})\}')
_OUTCOME = re.compile(rb'\{"outcome":([0-9]{1,18})\}')
_CONTEXT_PREFIX = b'{"context":'
_SCORE_BYTES = 4
_NO_OUTCOME = np.float32(np.nan).tobytes()


def scan(log: bytes, offset: int, layout: Layout) -> Scan:
    """Scans log[offset:], the bytes after the header line. Raises: ScanFailure: the log is damaged."""
    values: list[list[bytes]] = [[] for _ in layout.tensors]
    context_lines: list[bytes] = []
    context_offsets: list[int] = []
    outcomes: list[bytes] = []
    observation_context: list[int] = []
    next_observation: int | None = None

    def fail(error: ScanError, at: int) -> ScanFailure:
        return ScanFailure(error, at, len(observation_context))

    def read_tensors(start: int, byte_count: int) -> bytes:
        present = len(log) - start
        if present < byte_count:
            raise fail(ScanError.TRUNCATED_TENSORS, start)
        if log[start + byte_count : start + byte_count + 1] != b"\n":
            raise fail(ScanError.MISSING_NEWLINE, start + byte_count)
        return log[start : start + byte_count]

    while offset < len(log):
        newline = log.find(b"\n", offset)
        line = log[offset : newline if newline >= 0 else len(log)]
        if len(line) > MAX_LINE_BYTES:
            raise fail(ScanError.LINE_TOO_LONG, offset)
        if newline < 0:
            raise fail(ScanError.TRUNCATED_LINE, offset)
        body = newline + 1
        if match := _OBSERVATION.fullmatch(line):
            number = int(match[1])
            if not context_lines:
                raise fail(ScanError.NO_CONTEXT_YET, offset)
            if next_observation is not None and number != next_observation:
                raise fail(ScanError.OBSERVATION_ORDER, offset)
            record = read_tensors(body, layout.record_bytes)
            parts, position = [], 0
            for index, spec in enumerate(layout.tensors):
                parts.append(record[position : position + spec.byte_count])
                if index == len(layout.tensors) - 1 and layout.action_count:
                    action = int.from_bytes(parts[-1][:8], "little", signed=True)
                    if not 0 <= action < layout.action_count:
                        raise fail(ScanError.ACTION_OUT_OF_RANGE, body + position)
                position += spec.byte_count
            for column, part in zip(values, parts):
                column.append(part)
            observation_context.append(len(context_lines) - 1)
            next_observation = number + 1
            offset = body + layout.record_bytes + 1
        elif match := _OUTCOME.fullmatch(line):
            if not context_lines:
                raise fail(ScanError.NO_CONTEXT_YET, offset)
            if not layout.has_score:
                raise fail(ScanError.SCORE_NOT_DECLARED, offset)
            if next_observation is not None and int(match[1]) != next_observation - 1:
                raise fail(ScanError.OUTCOME_ORDER, offset)
            outcomes[-1] = read_tensors(body, _SCORE_BYTES)
            offset = body + _SCORE_BYTES + 1
        elif line.startswith(_CONTEXT_PREFIX):
            if not context_lines or context_lines[-1] != line:
                context_lines.append(line)
                context_offsets.append(offset)
                outcomes.append(_NO_OUTCOME)
                next_observation = None
            offset = body
        else:
            raise fail(ScanError.UNKNOWN_LINE, offset)

    tensors = [
        np.frombuffer(b"".join(column), np.dtype(spec.dtype).newbyteorder("<"))
        .astype(spec.dtype)
        .reshape(-1, *spec.shape)
        for column, spec in zip(values, layout.tensors)
    ]
    return Scan(
        context_lines,
        context_offsets,
        np.array(observation_context, np.int32),
        tensors,
        np.frombuffer(b"".join(outcomes), "<f4").astype(np.float32),
    )
