"""The interactive channel: what a compiler says before each decision, however the bytes are cut into pieces."""

import numpy as np

from mlgo.compiler.interactive_stream import ObservationStream
from mlgo.compiler.testing import log_writer
from mlgo.compiler.training_log import TrainingLogError
from mlgo.problems.regalloc_priority.problem import PROBLEM
from tests.fuzzing import search

WORDS = (b'{"context":"f"}\n', b'{"observation":0}\n', b'{"observation":1}\n', b'"features"', b'"advice"', b"\n")


def seeds() -> list[bytes]:
    values = tuple(np.zeros(spec.element_count, spec.dtype) for spec in PROBLEM.interactive_specs(False))
    decisions = [log_writer.observation(number, values) for number in range(2)]
    header = log_writer.channel_header(PROBLEM)
    context = log_writer.context
    return [header + context("f") + b"".join(decisions) + context("g") + decisions[0], header + header + context("f")]


def _said(content: bytes, piece_bytes: int):
    """The observations, and the text of the error that ended them."""
    stream, seen = ObservationStream(PROBLEM, "channel"), []
    try:
        for position in range(0, len(content), piece_bytes):
            stream.feed(content[position : position + piece_bytes])
            while (observation := stream.next_observation()) is not None:
                features = [array.tobytes() for array in observation.features.values()]
                seen.append((observation.context, observation.number, features))
        stream.finish()
    except TrainingLogError as error:
        return seen, str(error)
    return seen, None


def run(content: bytes) -> None:
    assert _said(content, 1 << 20) == _said(content, 7), "it matters how the bytes are cut"


if __name__ == "__main__":
    search.main(search.Target(run, (), seeds, WORDS, max_bytes=1 << 12))
