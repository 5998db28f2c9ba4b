"""The score of one function, and the one ratio by which scores are compared."""

import dataclasses
import math
from typing import Literal

#: Name under which the bytes of a module that belong to no function are recorded: padding, constants, .eh_frame.
NON_FUNCTION_BYTES = ""


@dataclasses.dataclass(frozen=True, slots=True)
class FunctionScore:
    """The result of one compile for one function."""

    decisions: int  #: how many decisions were taken in it, >= 0.
    score: float  #: the score that the compiler logged, or the size of the code in bytes.
    comdat: str | None = None  #: the signature of its COMDAT, where the score is a size; None: it has none.
    #: its fold identity (mlgo/compiler/fold_identity.py); None: it is never folded, or folding does not count.
    fold: str | None = None

    def __post_init__(self):
        if self.decisions < 0 or not math.isfinite(self.score):
            raise ValueError(f"a function score needs decisions >= 0 and a finite score, not {self}")


def score_ratio(default: float, found: float, offset: float, goal: Literal["minimize", "maximize"]) -> float:
    """(found + offset) / (default + offset), inverted if the goal is to maximise: below 1 means better code.

    Args: two scores of the same code, >= 0; `offset` in units of the score.
    Raises: ValueError: a score is negative or not finite.
    """
    if not (0 <= default < math.inf and 0 <= found < math.inf):
        raise ValueError(f"scores {default} and {found}: both must be finite and at least 0 to have a ratio")
    ratio = (found + offset) / (default + offset)
    return ratio if goal == "minimize" else 1.0 / ratio
