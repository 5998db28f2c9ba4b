"""Stored arrays: traces and recorded decisions (zstd), checkpoints and weights (npz)."""

import json

import numpy as np
import zstandard

from mlgo.explanation import recorded
from mlgo.learning.checkpoint import decode_arrays, encode_arrays
from mlgo.problems.regalloc_priority.problem import PROBLEM
from mlgo.run.exit_codes import RunError
from mlgo.trace import arrays
from mlgo.trace.trace import ACTIONS_NAME, OBSERVATION_CONTEXT_NAME
from tests.fuzzing import search

#: The content of an arrays file is compressed here and not in the input, so that mutations reach what is inside.
_INNER = b"inner\n"


def seeds() -> list[bytes]:
    named = {spec.name: np.zeros((2, *spec.shape), spec.dtype) for spec in PROBLEM.observation_specs}
    named |= {":contexts": np.frombuffer(json.dumps(["f", "g"]).encode(), np.uint8)}
    named |= {"observation_context": np.array([0, 1], np.int32), "actions": np.zeros(2, np.float32)}
    named |= {name: np.array([0, 1], np.int32) for name in (OBSERVATION_CONTEXT_NAME,)}
    named |= {name: np.zeros(2, np.float32) for name in (ACTIONS_NAME,)}
    stored = arrays.encode(named)
    inner = zstandard.ZstdDecompressor().decompress(stored[len(arrays.MAGIC) :])
    return [stored, _INNER + inner, encode_arrays({"a": np.arange(6).reshape(2, 3), "b/c": np.zeros(0, np.float32)})]


def run(content: bytes) -> None:
    if content.startswith(_INNER):
        compressor = zstandard.ZstdCompressor(write_checksum=True)
        content = arrays.MAGIC + compressor.compress(content.removeprefix(_INNER))
    for read in (_decisions, _plain):
        try:
            read(content)
        except RunError:
            pass


def _decisions(content: bytes) -> None:
    found = recorded.decode(arrays.decode(content, "recorded decisions"), "recorded decisions", "m", PROBLEM)
    for decision in range(len(found)):
        found.function(decision)
        found.callee(decision)


def _plain(content: bytes) -> None:
    for array in decode_arrays(content, "arrays").values():
        assert array.dtype != object


if __name__ == "__main__":
    words = [
        b'"shape": [',
        b'"dtype": "',
        b"<i8",
        b"|u1",
        b"9999999999",
        b"\x93NUMPY\1\0",
        b"'descr': '|O'",
        b"(2**60,)",
    ]
    search.main(search.Target(run, (), seeds, words))
