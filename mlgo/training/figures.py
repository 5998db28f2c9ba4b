"""The figures of a run: those of the learning stage, metrics as JSON lines, TensorBoard events.

The stage keeps a record a line in `iterations.jsonl` and `validations.jsonl`, however many iterations a run has, in the
order of their iterations.
"""

import json
import os
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mlgo.run import files, json_lines
from mlgo.run.exit_codes import RunError
from mlgo.run.json_fields import Fields

Record = dict[str, Any]

#: The JSON-lines files of a run: a validation or an iteration a line, equal in equal runs; the seconds of iterations.
METRICS_NAME, SECONDS_NAME = "metrics.jsonl", "seconds.jsonl"

_ITERATIONS, _VALIDATIONS = "iterations.jsonl", "validations.jsonl"
_WHAT = "figures of the learning stage"

#: The field of an iteration's and a validation's figures with the kind of failure by compile.
FAILED = "failed_compiles"


def metrics_lines(iterations: Sequence[Mapping[str, Any]], validations: Sequence[Mapping[str, Any]]) -> bytes:
    """One JSON object a line: {"kind": "validation" | "iteration", "iteration": n, ...}, validations before the
    iteration that starts from the same weights.
    """
    records = [(record["iteration"], 0, {"kind": "validation", **record}) for record in validations]
    records += [(record["iteration"], 1, {"kind": "iteration", **record}) for record in iterations]
    lines = [json.dumps(record, sort_keys=True) for _, _, record in sorted(records, key=lambda entry: entry[:2])]
    return "".join(f"{line}\n" for line in lines).encode("utf-8")


def parse_metrics(content: bytes, read: str) -> tuple[list[Record], list[Record]]:
    """What `metrics_lines` wrote: the figures of all iterations and of all validations.

    A last line without its end is what an interrupted run left, and is passed over.

    Raises: RunError: a line of `read` is no figures; names it.
    """
    found: dict[str, list[Record]] = {"iteration": [], "validation": []}
    remedy = "Run the same training command again: it writes the file anew"
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        where = f"{read}, line {number}"
        record = files.parse_json(line, where, remedy)
        kind = record.pop("kind", None) if isinstance(record, dict) else None
        if kind not in found or not isinstance(record.get("iteration"), int):
            raise RunError(where, "is neither an iteration's nor a validation's figures", remedy)
        found[kind].append(record)
    return found["iteration"], found["validation"]


class LearningRecords:
    """Writes the figures in `folder`.

    Args:
      iteration: how many iterations the last checkpoint has learned from. Records of later ones are dropped: the
        process that wrote them was killed before its checkpoint, and this run repeats them.
      is_due: whether this run validates the weights that have learned from so many iterations. Records of other
        validations are dropped: they ended a shorter run.
    Attributes: last_validated: how many iterations the weights validated last have learned from; None: none were.
    """

    def __init__(self, folder: pathlib.Path, iteration: int, is_due: Callable[[int], bool] = lambda iteration: True):
        self._folder = folder
        _keep_iterations(folder / _ITERATIONS, lambda recorded: recorded < iteration, _WHAT, _remedy(folder))
        validations = _keep_iterations(
            folder / _VALIDATIONS,
            # The weights that the next iteration starts from may have been validated.
            lambda recorded: recorded <= iteration and is_due(recorded),
            _WHAT,
            _remedy(folder),
        )
        self.last_validated: int | None = validations[-1]["iteration"] if validations else None

    def add_iteration(self, record: Mapping[str, Any]) -> None:
        json_lines.append(self._folder / _ITERATIONS, record)

    def add_validation(self, record: Mapping[str, Any]) -> None:
        json_lines.append(self._folder / _VALIDATIONS, record)
        self.last_validated = record["iteration"]


def read_records(folder: pathlib.Path) -> tuple[list[Record], list[Record]]:
    """The figures of all iterations and validations of the stage in `folder`. Raises: RunError: a file is damaged."""
    iterations, validations = (
        json_lines.read(folder / name, _WHAT, _remedy(folder)) for name in (_ITERATIONS, _VALIDATIONS)
    )
    return iterations, validations


def _keep_iterations(
    path: pathlib.Path, is_kept: Callable[[int], bool], what: str, remedy: str
) -> list[dict[str, Any]]:
    """As json_lines.keep. Args: is_kept: by the field "iteration"."""
    subject = f"{what} ({path})"
    return json_lines.keep(
        path, lambda record: is_kept(Fields(record, subject, remedy).read("iteration", int)), what, remedy
    )


def _remedy(folder: pathlib.Path) -> str:
    return f"Delete {folder} and run the same command again"


class Metrics:
    """Writes the figures of a run as they arise: files in `results` (None: `output`), TensorBoard's in `output`."""

    def __init__(self, output: pathlib.Path, results: pathlib.Path | None = None):
        results = output if results is None else results
        self._path, self._seconds = results / METRICS_NAME, results / SECONDS_NAME
        self._tensorboard = TensorBoard(output / "tensorboard")

    def begin(self, iterations: Sequence[Mapping[str, Any]], validations: Sequence[Mapping[str, Any]]) -> None:
        """Writes the figures of the finished iterations again, after which this run goes on."""
        files.write_atomically(self._path, metrics_lines(iterations, validations))
        done = len(iterations)
        _keep_iterations(self._seconds, lambda iteration: iteration < done, "seconds", "Delete the file")

    def validation(self, record: Mapping[str, Any]) -> None:
        self._append(metrics_lines([], [record]))
        self._tensorboard.write("validation", record)

    def iteration(self, record: Mapping[str, Any], seconds: Mapping[str, float]) -> None:
        self._append(metrics_lines([record], []))
        spent = {"iteration": record["iteration"], **seconds}
        json_lines.append(self._seconds, spent, durable=False)
        self._tensorboard.write("iteration", record)
        self._tensorboard.write("seconds", spent)

    def _append(self, line: bytes) -> None:
        # Not synced: a resumed run writes the file again from the figures on disk.
        with open(self._path, "ab") as file:
            file.write(line)


class TensorBoard:
    """TensorBoard events in a folder, one file per process; only for stages that have imported TensorFlow anyway."""

    def __init__(self, folder: pathlib.Path):
        import tensorflow as tf  # pylint: disable=import-outside-toplevel

        # TensorFlow would encode a string as UTF-8, whatever the bytes of the name are.
        self._writer = tf.summary.create_file_writer(os.fsencode(folder))

    def write(self, prefix: str, record: Mapping[str, Any]) -> None:
        """The numbers in `record`, which has an "iteration", under `prefix`."""
        import tensorflow as tf  # pylint: disable=import-outside-toplevel

        # As arrays: TensorFlow keeps a tensor of every Python number that it has ever been given.
        with self._writer.as_default(step=np.array(record["iteration"], np.int64)):
            for name, value in _numbers(prefix, record):
                if name != f"{prefix}/iteration":
                    tf.summary.scalar(name, np.array(value, np.float32))
        self._writer.flush()


def _numbers(prefix: str, record: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The numbers in `record` and in mappings inside it, by their path."""
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield from _numbers(f"{prefix}/{name}", value)
        elif isinstance(value, (int, float)):
            yield f"{prefix}/{name}", float(value)
