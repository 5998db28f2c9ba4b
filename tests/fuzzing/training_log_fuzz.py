"""Training logs: three readers, from memory, from a file and the reference in Python, say the same of any bytes."""

import functools

import numpy as np

from mlgo.compiler.testing import log_writer, training_log_reference
from mlgo.compiler.testing.log_writer import SMALL_PROBLEM as PROBLEM
from mlgo.compiler.testing.log_writer import Observation
from mlgo.compiler.training_log import TrainingLogError, interpret, read_header, read_training_log
from mlgo.problems.tensor import TensorSpec
from tests.fuzzing import search
from tests.fuzzing.in_memory import path_of

NAME = "training log"
WORDS = (
    b'{"context":"f"}\n',
    b'{"observation":0}\n',
    b'{"observation":1}\n',
    b'{"outcome":0}\n',
    b'"features"',
    b'"score"',
    b"\n",
)


def seeds() -> list[bytes]:
    entry = Observation((np.array([0, 1, 1]), np.array([1.5], np.float32), np.array([2])), outcome=0.5)
    extra = Observation((*entry.values[:2], np.array([1, 2], np.float32), entry.values[2]), outcome=None)
    return [
        log_writer.write_log(PROBLEM, [("f", [entry, entry]), ("g", []), ("g", [entry])]),
        log_writer.write_log(PROBLEM, [("f", [extra])], (TensorSpec("logits", "float32", (2,)),)),
        log_writer.write_log(PROBLEM, [("f", [entry])], has_score=False),
    ]


def _with_reference(log: bytes):
    body = log.find(b"\n") + 1
    if not body:
        return _with_file(log)
    layout = read_header(log[: body - 1], PROBLEM, NAME)
    return interpret(functools.partial(training_log_reference.scan, log, body, layout), layout, PROBLEM, NAME)


def _with_file(log: bytes):
    with path_of(log) as path:
        return read_training_log(path, PROBLEM, NAME)


def _said(reader, log: bytes):
    """What a reader says of a log: arrays as bytes, or the error's text."""
    try:
        read = reader(log)
    except TrainingLogError as error:
        return str(error)
    arrays = {
        **read.features,
        **read.extra_outputs,
        "a": read.actions,
        "o": read.outcomes,
        "c": read.observation_context,
    }
    return read.contexts, {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()}


def run(content: bytes) -> None:
    assert _said(_with_file, content) == _said(_with_reference, content), "C++ and Python differ"


if __name__ == "__main__":
    search.main(search.Target(run, (), seeds, WORDS))
