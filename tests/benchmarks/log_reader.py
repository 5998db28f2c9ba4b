"""Observations per second from an eviction log in the page cache to the arrays that training consumes.

The other side does what ml-compiler-opt's log_reader.py does: one JSON line and one list-like value per tensor at a
time, appended element by element to a tf.train.SequenceExample per function.
"""

import collections
import ctypes
import json
import math
import os
import statistics
import tempfile
import time
from typing import Any

import numpy as np

from mlgo.compiler.testing import log_writer
from mlgo.compiler.training_log import read_training_log
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from tests.benchmarks.row import Row, at_least

OBSERVATIONS = 20_000
_PER_FUNCTION = 40
_TURNS = 3
_OURS_PER_TURN = 7

_C_TYPES: dict[str, Any] = {"float": ctypes.c_float, "int64_t": ctypes.c_int64, "int32_t": ctypes.c_int32}


def measure() -> list[Row]:
    """The rows of this benchmark; takes about half a minute."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "training.log")
        _write(path)
        read_training_log(path, PROBLEM)  # loads the library and fills the page cache
        ours, other = [], []
        for _ in range(_TURNS):
            ours += [_rate(lambda: read_training_log(path, PROBLEM).observation_count) for _ in range(_OURS_PER_TURN)]
            other.append(_rate(lambda: _into_sequence_examples(path)))
    rate, other_rate = statistics.median(ours), statistics.median(other)
    return [
        at_least("reading an eviction training log", rate, "observations/s", 400_000),
        at_least("reading an eviction training log, against SequenceExamples", rate / other_rate, "x", 80),
        Row("reading an eviction training log into SequenceExamples", other_rate, "observations/s"),
    ]


def _rate(read) -> float:
    start = time.perf_counter()
    count = read()
    seconds = time.perf_counter() - start
    if count != OBSERVATIONS:
        raise AssertionError(f"{count} observations were read, {OBSERVATIONS} were written")
    return count / seconds


def _write(path: str) -> None:
    random = np.random.default_rng(0)
    some = [log_writer.plausible_observation(PROBLEM, random) for _ in range(200)]
    with open(path, "wb") as file:
        file.write(log_writer.header(PROBLEM))
        for index in range(OBSERVATIONS):
            number = index % _PER_FUNCTION
            if number == 0:
                file.write(log_writer.context(f"_ZN4llvm8function{index}Ev"))
            file.write(log_writer.observation(number, some[index % len(some)].values))
            file.write(log_writer.outcome(number, float(number)))


class _Value:
    """A tensor's elements, as a sequence that makes each element when it is asked for."""

    def __init__(self, spec: dict, data: bytes):
        self._length = math.prod(spec["shape"])
        self._elements = ctypes.cast(ctypes.c_char_p(data), ctypes.POINTER(_C_TYPES[spec["type"]]))
        self._data = data

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int):
        if not 0 <= index < self._length:
            raise IndexError(index)
        return self._elements[index]


def _into_sequence_examples(path: str) -> int:
    import tensorflow as tf  # pylint: disable=import-outside-toplevel

    examples: dict[str | None, Any] = collections.defaultdict(tf.train.SequenceExample)
    count = 0

    def add(spec: dict, example) -> None:
        data = file.read(math.prod(spec["shape"]) * ctypes.sizeof(_C_TYPES[spec["type"]]))
        feature = example.feature_lists.feature_list[spec["name"]].feature.add()
        values = feature.float_list.value if spec["type"] == "float" else feature.int64_list.value
        values.extend(_Value(spec, data))

    with open(path, "rb") as file:
        header = json.loads(file.readline())
        context = None
        while line := file.readline():
            event = json.loads(line)
            if "context" in event:
                context = event["context"]
                continue
            example = examples[context]
            for spec in header["features"]:
                add(spec, example)
            file.readline()
            json.loads(file.readline())
            add(header["score"], example)
            file.readline()
            count += 1
    return count
