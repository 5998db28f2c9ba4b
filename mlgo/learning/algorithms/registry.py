"""The algorithms a run can learn with. Registering one is adding its folder's name to `_FOLDERS`."""

import importlib
from collections.abc import Mapping

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


def algorithm_named(name: str) -> Algorithm:
    """The algorithm with this name. Raises: ValueError: there is none."""
    found = ALGORITHMS.get(name)
    if found is None:
        raise ValueError(f"RunSettings.algorithm={name!r}: must be one of {', '.join(ALGORITHMS)}")
    return found
