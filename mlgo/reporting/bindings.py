"""The gin bindings that reproduce the settings of a run."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.learning.algorithms.registry import ALGORITHMS
from mlgo.learning.cloning_config import BcConfig
from mlgo.learning.divergence import DivergenceRules
from mlgo.learning.network import NetworkConfig
from mlgo.run.exit_codes import RunError
from mlgo.trace.vocabulary import VocabularyConfig
from mlgo.training.settings import RunSettings, configure

#: Part of a configuration -> the class that gin bindings name.
_CLASSES = {
    "run": RunSettings.__name__,
    "vocabulary": VocabularyConfig.__name__,
    "network": NetworkConfig.__name__,
    "behavioural_cloning": BcConfig.__name__,
    "divergence": DivergenceRules.__name__,
    **{name: algorithm.config.__name__ for name, algorithm in ALGORITHMS.items()},
}

#: Fields of RunSettings that are given as flags.
FLAGS = (
    "algorithm",
    "iterations",
    "modules_per_iteration",
    "validation_interval",
    "validation_modules",
    "seed",
    "max_failure_ratio",
    "on_divergence",
)


def bindings_of(configuration: Mapping[str, Any]) -> list[str]:
    """`CLASS.FIELD=VALUE` for every setting that differs from the default and is not given as a flag; sorted.

    Args: configuration: from Configurations.to_json.
    Returns: nothing for a problem that is not in this workspace; unknown settings are ignored.
    """
    given = {name: configuration["run"][name] for name in ("problem", "algorithm") if name in configuration["run"]}
    try:
        defaults = json.loads(json.dumps(configure(given, (), ()).to_json()))
    except (KeyError, RunError):
        return []
    found = []
    for part, fields in configuration.items():
        if not isinstance(fields, Mapping) or part not in _CLASSES or part not in defaults:
            continue
        for field, value in fields.items():
            spoken_for = part == "run" and field in (*FLAGS, "problem", "warm_start")
            if not spoken_for and field in defaults[part] and defaults[part][field] != value:
                found.append(f"{_CLASSES[part]}.{field}={_literal(value)}")
    return sorted(found)


def _literal(value: Any) -> str:
    """A JSON value as a gin literal, with tuples for lists."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name!r}: {_literal(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "(" + "".join(f"{_literal(inner)}, " for inner in value).rstrip() + ")"
    return repr(value)
