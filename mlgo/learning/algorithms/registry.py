"""The algorithms a run can learn with. Registering one is adding its folder's name to `_FOLDERS`."""

import importlib
from collections.abc import Mapping
from typing import Any

from mlgo.learning.algorithm import Algorithm

#: Folders beside this file. The BUILD file depends on every folder.
_FOLDERS = (
    # One per line, in the order of help texts.
    "ppo",
    "es",
    "dqn",
    "effect_regression",
    "bc_max",
)

ALGORITHMS: Mapping[str, Algorithm] = {
    name: importlib.import_module(f"mlgo.learning.algorithms.{name}.algorithm").ALGORITHM for name in _FOLDERS
}

_FORMER_NAMES = {a.former_name: a.name for a in ALGORITHMS.values() if a.former_name}
_FORMER_KEYS = _FORMER_NAMES | {old: new for a in ALGORITHMS.values() for old, new in a.former_figures.items()}

#: What --algorithm accepts: names, then names of earlier versions.
ACCEPTED_NAMES = (*ALGORITHMS, *_FORMER_NAMES)


def algorithm_named(name: str) -> Algorithm:
    """The algorithm with this name, or with this name in earlier versions.

    Raises: ValueError: there is none.
    """
    found = ALGORITHMS.get(_FORMER_NAMES.get(name, name))
    if found is None:
        raise ValueError(f"RunSettings.algorithm={name!r}: must be one of {', '.join(ALGORITHMS)}")
    return found


def current_names(recorded: Any) -> Any:
    """JSON values recorded by this or an earlier version, with today's names of algorithms and figures."""
    if isinstance(recorded, list):
        return [current_names(value) for value in recorded]
    if not isinstance(recorded, dict):
        return recorded
    renamed = {_FORMER_KEYS.get(key, key): current_names(value) for key, value in recorded.items()}
    if isinstance(algorithm := renamed.get("algorithm"), str):
        renamed["algorithm"] = _FORMER_NAMES.get(algorithm, algorithm)
    return renamed
