"""What a run folder, perhaps of others, holds: manifests, module records, checkpoints, vocabularies."""

import json
import pathlib
import tempfile
from collections.abc import Callable

from mlgo.learning.checkpoint import load_checkpoint
from mlgo.learning.normalization import load_normalizer
from mlgo.problems.regalloc_priority.problem import PROBLEM
from mlgo.run import manifest
from mlgo.run.exit_codes import RunError
from mlgo.trace.outcomes import read_record
from tests.fuzzing import search

VOCABULARY = tuple(f"{spec.name}.buckets" for spec in PROBLEM.observation_specs)
FILES = ("manifest.json", "module.json", "checkpoint.json", *VOCABULARY)
_STAGE, _INPUTS, _CONFIGURATION = "trace", {"corpus": "a1"}, {"seed": 1}
SEED = {
    "manifest.json": {
        "format_version": 1,
        "stage": _STAGE,
        "inputs": _INPUTS,
        "configuration": _CONFIGURATION,
        "outputs": {"module.json": "00"},
        "summary": {"traced": 3},
    },
    "module.json": {"outcome": "traced", "failure_kind": None, "functions": {"f": [2, 1.5], "g": [0, 2, "group"]}},
    "checkpoint.json": {"format": "mlgo checkpoint 1", "arrays": "checkpoint-0.npz", "sha256": "00", "facts": {}},
    **dict.fromkeys(VOCABULARY, "0\n1.5\n1e3\nnan\n"),
}


def run(content: bytes) -> None:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for path, value in found.items() if isinstance(found, dict) else ():
            if path in FILES:
                text = value if isinstance(value, str) else json.dumps(value)
                (folder / path).write_text(text, encoding="utf-8", errors="surrogatepass")
        readers: list[Callable[[], object]] = [
            lambda: manifest.read_if_current(folder, _STAGE, _INPUTS, _CONFIGURATION),
            lambda: read_record(folder / "module.json").decisions,
            lambda: load_checkpoint(folder, "checkpoint"),
            lambda: load_normalizer(folder, PROBLEM).digest,
        ]
        for read in readers:
            try:
                read()
            except RunError:
                pass


if __name__ == "__main__":
    words = [b'"outputs"', b"../../x", b"x" * 300, b"\\u0000", b"\\ud800", b"1e999", b"inf", b"-1", b"\\n"]
    search.main(search.Target(run, (), lambda: [json.dumps(SEED).encode()], words))
