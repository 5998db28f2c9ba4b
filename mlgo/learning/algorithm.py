"""The description of an algorithm, which each folder of algorithms/ exports as ALGORITHM; a check of settings."""

import dataclasses
import importlib
import math
from collections.abc import Callable, Mapping, Sequence
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


def check_fields(
    config: Any, at_least_one: Sequence[str] = (), positive: Sequence[str] = (), below_one: Sequence[str] = ()
) -> None:
    """Raises: ValueError: one of `at_least_one` is below 1, one of `positive` is not a finite number above 0, or one
    of `below_one` is not in [0, 1); names it.
    """
    checks: tuple[tuple[Sequence[str], Callable[[Any], bool], str], ...] = (
        (at_least_one, lambda value: value >= 1, "be at least 1"),
        (positive, lambda value: 0 < value < math.inf, "be positive"),
        (below_one, lambda value: 0 <= value < 1, "lie in [0, 1)"),
    )
    for names, is_right, rule in checks:
        for name in names:
            if not is_right(value := getattr(config, name)):
                raise ValueError(f"{type(config).__name__}.{name}={value} must {rule}")
