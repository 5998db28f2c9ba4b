"""The description of an algorithm, which each folder of algorithms/ exports as ALGORITHM."""

import dataclasses
import importlib
from collections.abc import Mapping

from mlgo.learning.learner import Learner


@dataclasses.dataclass(frozen=True)
class Algorithm:
    """One way to learn.

    Attributes:
      name: of its folder, and in --algorithm.
      title: its name in sentences.
      config: the class of its settings, which gin configures.
      learner: the name of its `Learner` in learner.py.
      figures: name -> title of the figures of an update that reports draw as curves.
      shown: names of the figures of an update that progress lines show.
      imitates: whether it learns from other policies too (--imitate).
      shared_settings: names of a problem's gin files that apply to it besides NAME.gin.
    """

    name: str
    title: str
    config: type
    learner: str
    figures: Mapping[str, str] = dataclasses.field(default_factory=dict)
    shown: tuple[str, ...] = ()
    imitates: bool = False
    shared_settings: tuple[str, ...] = ()

    def learner_class(self) -> type[Learner]:
        """Its `Learner`. Imported here and not at the top, since it may import TensorFlow, which takes seconds."""
        return getattr(importlib.import_module(f"mlgo.learning.algorithms.{self.name}.learner"), self.learner)
