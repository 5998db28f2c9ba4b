"""The features that generated C++ reads: from which tensor, and into which columns."""

import dataclasses
import re

import numpy as np

from mlgo.learning.normalization import Normalizer
from mlgo.problems.ir2vec import split_element
from mlgo.problems.problem import Problem
from mlgo.problems.tensor import TensorSpec
from mlgo.run.exit_codes import RunError

_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)


@dataclasses.dataclass(frozen=True)
class SeenFeature:
    """A feature that the policy uses.

    Attributes:
      spec: the tensor that holds it.
      first, count: its columns are first .. first + count - 1.
      highest: what everything above it (and NaN) counts as.
      index: its place in an embedding; None: it is the whole tensor.
    """

    spec: TensorSpec
    first: int
    count: int
    highest: np.float32
    index: int | None = None

    @property
    def name(self) -> str:
        """For comments."""
        return self.spec.name if self.index is None else f"{self.spec.name}[{self.index}]"

    @property
    def constant(self) -> str:
        """Name of the C++ constant with its columns."""
        word = "".join(word.capitalize() for word in self.spec.name.split("_"))
        return word if self.index is None else f"{word}{self.index}"

    def value(self) -> str:
        """C++ of the float that the columns are made of."""
        if self.index is None:
            place = "Position" if self.spec.element_count > 1 else "0"
        else:
            place = str(self.index)
        element = f"{self.spec.name}[{place}]"
        return element if self.spec.dtype == "float32" else f"static_cast<float>({element})"


def seen_features(normalizer: Normalizer, problem: Problem) -> list[SeenFeature]:
    """The features that a policy uses, in the order of its columns.

    Raises: RunError: `problem` lacks one, its name is none of C++, or its columns are scattered.
    """
    known = {name: spec for spec in problem.observation_specs for name in problem.elements(spec)}
    shown = ", ".join(sorted(spec.name for spec in problem.observation_specs))
    features = []
    names = [column.feature for column in normalizer.columns]
    for name in normalizer.features:
        tensor, index = split_element(name)
        if name not in known or not _IDENTIFIER.fullmatch(tensor):
            raise RunError(
                f"the policy's feature {name!r}",
                f"is none that the compiler knows for {problem.name} (it knows {shown})",
                "Train a policy with this compiler's features, or embed it in the compiler that it was trained for",
            )
        first, count = names.index(name), names.count(name)
        if names[first : first + count] != [name] * count:
            raise RunError(
                f"the policy's feature {name!r}", "has columns that do not stand together", "Save the policy again"
            )
        place = index if known[name].name in problem.embeddings else None
        features.append(SeenFeature(known[name], first, count, normalizer.highest(name), place))
    return features
