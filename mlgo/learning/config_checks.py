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
