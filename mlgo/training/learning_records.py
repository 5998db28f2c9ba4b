"""The figures of the learning stage: `iterations.jsonl` and `validations.jsonl` in its folder, a record a line.

Two files, however many iterations a run has. Records of one file are in the order of their iterations.
"""

import pathlib
from collections.abc import Callable, Mapping
from typing import Any

from mlgo.run import json_lines
from mlgo.run.json_fields import Fields

_ITERATIONS, _VALIDATIONS = "iterations.jsonl", "validations.jsonl"
_WHAT = "figures of the learning stage"

#: The field of an iteration's and a validation's figures with the kind of failure by compile.
FAILED = "failed_compiles"


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
        keep_iterations(folder / _ITERATIONS, lambda recorded: recorded < iteration, _WHAT, _remedy(folder))
        validations = keep_iterations(
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


def read_records(folder: pathlib.Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The figures of all iterations and validations of the stage in `folder`. Raises: RunError: a file is damaged."""
    iterations, validations = (
        json_lines.read(folder / name, _WHAT, _remedy(folder)) for name in (_ITERATIONS, _VALIDATIONS)
    )
    return iterations, validations


def keep_iterations(path: pathlib.Path, is_kept: Callable[[int], bool], what: str, remedy: str) -> list[dict[str, Any]]:
    """As json_lines.keep. Args: is_kept: by the field "iteration"."""
    subject = f"{what} ({path})"
    return json_lines.keep(
        path, lambda record: is_kept(Fields(record, subject, remedy).read("iteration", int)), what, remedy
    )


def _remedy(folder: pathlib.Path) -> str:
    return f"Delete {folder} and run the same command again"
