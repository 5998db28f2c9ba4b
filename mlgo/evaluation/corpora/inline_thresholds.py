"""The compiler's heuristic at other values of its threshold, such as -inline-threshold
(llvm/lib/Analysis/InlineCost.cpp)."""

import re
from collections.abc import Sequence

from mlgo.run.exit_codes import RunError

_PREFIX = "threshold_"
_VALUE = re.compile(r"-?\d{1,6}")


def threshold_flags(values: Sequence[str], option: str) -> dict[str, tuple[str, ...]]:
    """Name of the side -> the cc1 flags that set LLVM option `option`, for each value, in their order.

    Raises: RunError: a value is no whole number.
    """
    if wrong := [value for value in values if not _VALUE.fullmatch(value)]:
        raise RunError(f"--inline_thresholds={','.join(values)}", f"holds {wrong[0]!r}", "Give whole numbers: 10,15,25")
    return {_PREFIX + value: ("-mllvm", f"-{option}={value}") for value in values}


def threshold_of(side: str) -> str | None:
    """The value that the side of this name stands for; None: it is another kind of side."""
    return side.removeprefix(_PREFIX) if side.startswith(_PREFIX) else None
