"""The description of an algorithm, which each folder of algorithms/ exports as ALGORITHM; a check of settings."""

import dataclasses
import importlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.learning.learner import Learner


@dataclasses.dataclass(frozen=True)
class Algorithm:
    """One way to learn."""

    name: str
    title: str  #: its name in sentences.
    config: type
    learner: str  #: the name of its `Learner` in learner.py.
    #: name -> title of the figures of an update that reports draw as curves.
    figures: Mapping[str, str] = dataclasses.field(default_factory=dict)
    shown: tuple[str, ...] = ()  #: names of the figures of an update that progress lines show.
    imitates: bool = False  #: whether it learns from other policies too (--imitate).
    shared_settings: tuple[str, ...] = ()  #: names of a problem's gin files that apply to it besides NAME.gin.

    def learner_class(self) -> type[Learner]:
        """Its `Learner`. Imported here and not at the top, since it may import TensorFlow, which takes seconds."""
        return getattr(importlib.import_module(f"mlgo.learning.algorithms.{self.name}.learner"), self.learner)


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
