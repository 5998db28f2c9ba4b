"""What must be said on a command line for a run to have the settings that it had."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.learning.algorithms.registry import ALGORITHMS, current_names
from mlgo.learning.cloning_config import BcConfig
from mlgo.learning.divergence import DivergenceRules
from mlgo.learning.network import NetworkConfig
from mlgo.run.exit_codes import RunError
from mlgo.trace.vocabulary import VocabularyConfig
from mlgo.training.configuration import configure
from mlgo.training.settings import RunSettings

#: The classes that bindings name, by the part of a configuration that has their fields.
_CLASSES = {
    "run": RunSettings.__name__,
    "vocabulary": VocabularyConfig.__name__,
    "network": NetworkConfig.__name__,
    "behavioural_cloning": BcConfig.__name__,
    "divergence": DivergenceRules.__name__,
    **{name: algorithm.config.__name__ for name, algorithm in ALGORITHMS.items()},
}

#: Fields of RunSettings that flags set; they are always said.
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
    """`CLASS.FIELD=VALUE` for every setting that is another than what the command has without it, flags aside; sorted.

    Args: configuration: what Configurations.to_json gave, of this version or an earlier one.
    Returns: nothing for a problem that is not in this workspace; settings that this version does not know are passed over.
    """
    configuration = current_names(configuration)
    given = {name: configuration["run"][name] for name in ("problem", "algorithm") if name in configuration["run"]}
    try:
        usual = json.loads(json.dumps(configure(given, (), ()).to_json()))
    except (KeyError, RunError):
        return []
    found = []
    for part, fields in configuration.items():
        if not isinstance(fields, Mapping) or part not in _CLASSES or part not in usual:
            continue
        for field, value in fields.items():
            spoken_for = part == "run" and field in (*FLAGS, "problem", "warm_start")
            if not spoken_for and field in usual[part] and usual[part][field] != value:
                found.append(f"{_CLASSES[part]}.{field}={_literal(value)}")
    return sorted(found)


def _literal(value: Any) -> str:
    """JSON as gin reads it: Python, with tuples for lists, as the classes have them."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name!r}: {_literal(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "(" + "".join(f"{_literal(inner)}, " for inner in value).rstrip() + ")"
    return repr(value)
