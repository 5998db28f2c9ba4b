"""The figures of the learning stage: `iterations.jsonl` and `validations.jsonl` in its folder, a record a line.

Two files, however many iterations a run has. Records of one file are in the order of their iterations.
"""

import pathlib
from collections.abc import Callable, Mapping
from typing import Any

from mlgo.run import json_lines
from mlgo.run.json_fields import Fields

_ITERATIONS, _VALIDATIONS = "iterations", "validations"
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
    """

    def __init__(self, folder: pathlib.Path, iteration: int, is_due: Callable[[int], bool] = lambda iteration: True):
        self._folder = folder
        _keep(folder, _ITERATIONS, lambda recorded: recorded < iteration)
        # The weights that the next iteration starts from may have been validated.
        validations = _keep(folder, _VALIDATIONS, lambda recorded: recorded <= iteration and is_due(recorded))
        self._last_validated: int | None = validations[-1]["iteration"] if validations else None

    @property
    def last_validated(self) -> int | None:
        """How many iterations the weights validated last have learned from; None: none were validated."""
        return self._last_validated

    def add_iteration(self, record: Mapping[str, Any]) -> None:
        json_lines.append(_path(self._folder, _ITERATIONS), record)

    def add_validation(self, record: Mapping[str, Any]) -> None:
        json_lines.append(_path(self._folder, _VALIDATIONS), record)
        self._last_validated = record["iteration"]


def read_records(folder: pathlib.Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The figures of all iterations and validations of the stage in `folder`. Raises: RunError: a file is damaged."""
    iterations, validations = (
        json_lines.read(_path(folder, name), _WHAT, _remedy(folder)) for name in (_ITERATIONS, _VALIDATIONS)
    )
    return iterations, validations


def _keep(folder: pathlib.Path, name: str, is_kept: Callable[[int], bool]) -> list[dict[str, Any]]:
    path, remedy = _path(folder, name), _remedy(folder)

    def is_wanted(record: Mapping[str, Any]) -> bool:
        return is_kept(Fields(record, f"{_WHAT} ({path})", remedy).read("iteration", int))

    return json_lines.keep(path, is_wanted, _WHAT, remedy)


def _path(folder: pathlib.Path, name: str) -> pathlib.Path:
    return folder / f"{name}.jsonl"


def _remedy(folder: pathlib.Path) -> str:
    return f"Delete {folder} and run the same command again"
