"""Outcomes as values that can be compared byte for byte."""

import dataclasses

import numpy as np

from mlgo.compiler.request import CompileFailure, CompileResult


def comparable(outcome: CompileResult | CompileFailure) -> object:
    """All of an outcome but CPU time and repeats; arrays with type, shape, bytes and whether they may be written."""
    outcome = dataclasses.replace(outcome, repeats=())
    if isinstance(outcome, CompileResult):
        outcome = dataclasses.replace(outcome, cpu_seconds=0.0)
    return _plain(outcome)


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes(), value.flags.writeable
    if dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return type(value).__name__, _plain(fields)
    if isinstance(value, dict):
        return {key: _plain(element) for key, element in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(element) for element in value]
    return value
