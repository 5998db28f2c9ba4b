"""Checks that several configuration classes share."""

import math
from collections.abc import Sequence
from typing import Any


def check_fields(config: Any, at_least_one: Sequence[str] = (), positive: Sequence[str] = ()) -> None:
    """Checks fields of a configuration.

    Raises: ValueError: one of `at_least_one` is below 1, or one of `positive` is not a finite number above 0; names it.
    """
    kind = type(config).__name__
    for name in at_least_one:
        if getattr(config, name) < 1:
            raise ValueError(f"{kind}.{name}={getattr(config, name)} must be at least 1")
    for name in positive:
        if not (math.isfinite(getattr(config, name)) and getattr(config, name) > 0):
            raise ValueError(f"{kind}.{name}={getattr(config, name)} must be positive")


def check_linear(config: Any) -> None:
    """Checks what the configurations of all LinearLearners have, and makes the values of `start` floats.

    Raises: ValueError: a field is out of its range; names it.
    """
    object.__setattr__(config, "start", {str(feature): float(value) for feature, value in config.start.items()})
    check_fields(config, positive=("effect_deviation", "outlier"))
    if not (0 < config.step <= 1 and 0 <= config.decay < 1 and config.prior >= 0):
        raise ValueError(
            f"{type(config).__name__}: step={config.step} in (0, 1], decay={config.decay} in [0, 1),"
            f" prior={config.prior} >= 0"
        )


def checked_preferences(config: Any) -> dict[str, tuple[float, float]]:
    """`config.preferred_below` with floats, see `linear_network.preference_below`.

    Raises: ValueError: a value is not a pair of finite numbers.
    """
    checked = {}
    for feature, pair in config.preferred_below.items():
        numbers = [float(number) for number in pair]
        if len(numbers) != 2 or not all(map(math.isfinite, numbers)):
            raise ValueError(
                f"{type(config).__name__}.preferred_below[{feature!r}]={pair!r} must be (limit, preference)"
            )
        checked[str(feature)] = (numbers[0], numbers[1])
    return checked


def check_moves(config: Any) -> None:
    """Checks how many changes of decisions are measured.

    Raises: ValueError: a field is out of its range; names it.
    """
    kind = type(config).__name__
    if config.compiles_per_module < 2:
        raise ValueError(f"{kind}.compiles_per_module={config.compiles_per_module} must be at least 2")
    if not 1 <= config.compiles_against_policy < config.compiles_per_module:
        raise ValueError(
            f"{kind}.compiles_against_policy={config.compiles_against_policy} must be at least 1 and less than"
            f" compiles_per_module={config.compiles_per_module}"
        )
    if not 0 <= config.unpromising <= 1:
        raise ValueError(f"{kind}.unpromising={config.unpromising} must lie in [0, 1]")
