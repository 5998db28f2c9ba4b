"""LLVM's heuristic at other values of its own -inline-threshold: what a policy that inlines must beat (llvm/lib/Analysis/InlineCost.cpp)."""

import re
from collections.abc import Sequence

from mlgo.run.exit_codes import RunError

_PREFIX = "threshold_"
_VALUE = re.compile(r"-?\d{1,6}")


def threshold_flags(values: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Of each value of --inline_thresholds, in their order, the side's name and the flags that set it.

    Raises: RunError: a value is no whole number.
    """
    if wrong := [value for value in values if not _VALUE.fullmatch(value)]:
        raise RunError(f"--inline_thresholds={','.join(values)}", f"holds {wrong[0]!r}", "Give whole numbers: 10,15,25")
    return {_PREFIX + value: ("-mllvm", f"-inline-threshold={value}") for value in values}


def threshold_of(side: str) -> str | None:
    """The value that the side of this name stands for; None: it is another kind of side."""
    return side.removeprefix(_PREFIX) if side.startswith(_PREFIX) else None
