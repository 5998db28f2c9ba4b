"""What the code is scored by that a problem's decisions lead to: a score that the compiler logs, or bytes of code."""

import dataclasses
import math
from typing import ClassVar, Literal

from mlgo.problems.tensor import TensorSpec


@dataclasses.dataclass(frozen=True)
class LoggedScore:
    """A score that the compiler logs for each context, which is a function or a module."""

    spec: TensorSpec  #: the logged tensor, one value >= 0.
    goal: Literal["minimize", "maximize"]  #: whether smaller or larger scores are better code.
    #: added to both scores of a ratio, so that a score of 0 has a ratio; > 0, in units of the score. The default is
    #: that of ml-compiler-opt (compiler_opt/rl/constant.py, DELTA) and suits scores of 1 and more.
    offset: float = 0.01
    unit: str = "score"  #: what reports call one score.
    #: label of the built-in corpora of the problem, to which "_train" or "_held_out" is added.
    built_in_corpus: str = "//mlgo/corpus:llvm_small"

    def __post_init__(self):
        score = f"score {self.spec.name}"
        if self.spec.element_count != 1:
            raise ValueError(f"{score}: it has {self.spec.element_count} values; it must have one")
        if self.goal not in ("minimize", "maximize"):
            raise ValueError(f"{score}: goal {self.goal!r} is neither minimize nor maximize")
        if not 0 < self.offset < math.inf:
            raise ValueError(f"{score}: offset {self.offset} must be positive and finite")


#: The reward of images whose equal functions the linker folds (mlgo/score/folded_code.py).
FOLDED_CODE = "folded_code"


@dataclasses.dataclass(frozen=True)
class CodeSize:
    """The size of the code that a module is compiled to, in bytes; the compiler logs no score.

    Attributes: see LoggedScore. rewards: names of the ways to count bytes, the default first (mlgo/score/code_size.py).
    """

    goal: ClassVar[Literal["minimize"]] = "minimize"
    rewards: tuple[str, ...] = ("comdat_weighted_code", "linked_code", "object_text", "estimated_code")
    offset: float = 0.01
    unit: str = "bytes of code"
    built_in_corpus: str = "//mlgo/corpus:llvm_small_oz"

    @property
    def folds(self) -> bool:
        """Whether equal functions count once, so that they have to be told apart."""
        return FOLDED_CODE in self.rewards
