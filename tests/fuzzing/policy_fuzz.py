"""The folder of a policy: its record and its weights, read without TensorFlow."""

import hashlib
import json
import pathlib
import tempfile

import numpy as np

from mlgo.learning.checkpoint import encode_arrays
from mlgo.learning.normalization import Column, Normalizer
from mlgo.policy.directory import FORMAT, load_policy
from mlgo.problems.regalloc_priority.problem import PROBLEM
from mlgo.run.exit_codes import RunError
from tests.fuzzing import search

#: Between the record and the weights in one input.
BORDER = b"\n\0weights\0\n"


def seeds() -> list[bytes]:
    columns = (Column("li_size", 0, 100), Column("weight", 0, 1))
    normalizer = Normalizer("regalloc_priority", columns, ("stage",), mark_last_position=False)
    record = {
        "format": FORMAT,
        "problem": "regalloc_priority",
        "features": ["li_size", "stage", "weight"],
        "decision": "priority",
        "normalizer": normalizer.to_json(),
        "sha256": {"weights.npz": ""},
    }
    shapes = {"0/kernel": (2, 4), "0/bias": (4,), "logits/kernel": (4, 1)}
    weights = {f"policy/{name}": np.full(shape, 0.5, np.float32) for name, shape in shapes.items()}
    return [json.dumps(record).encode() + BORDER + encode_arrays(weights)]


def with_digest(record: bytes, weights: bytes) -> bytes:
    """`record` with the digest of `weights`, so that they are read; unchanged if it has no place for it."""
    try:
        content = json.loads(record)
        content["sha256"]["weights.npz"] = hashlib.sha256(weights).hexdigest()
        return json.dumps(content).encode("utf-8", "surrogatepass")
    except (ValueError, TypeError, KeyError, RecursionError):
        return record


def run(content: bytes) -> None:
    record, _, weights = content.partition(BORDER)
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "policy.json").write_bytes(with_digest(record, weights))
        pathlib.Path(folder, "weights.npz").write_bytes(weights)
        network, _ = load_policy(folder, PROBLEM)
    assert all(np.isfinite(array).all() for name, array in network.weights.items() if name.startswith("policy/"))


if __name__ == "__main__":
    words = [b'"sha256"', b'"columns"', b"1e999", b"9" * 400, b"'shape': (2**60,)", b"\x93NUMPY\1\0", b"<f4", b"|O"]
    search.main(search.Target(run, (RunError,), seeds, words))
