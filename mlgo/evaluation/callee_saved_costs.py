"""What the first use of a callee-saved register costs: an option of LLVM's allocator, with and without a policy.

LLVM has 0 or next to nothing on every target (llvm/lib/CodeGen/RegAllocGreedy.cpp, CSRFirstTimeCost; docs/adr/0006).
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, TypeVar

from mlgo.run.exit_codes import RunError

_OPTION = "-regalloc-csr-first-time-cost"
_FLAG = "--callee_saved_costs"
#: Between the name of a side and its cost.
_MARK = "_callee_saved_"
#: Text of the flag, which two commands have.
HELP = (
    f"Values of {_OPTION}, each as a further side of the default and of every policy. 16384 is what an access to memory"
    " at the function's entry costs, so a register's save and restore are 32768."
)


class _Side(Protocol):
    """A dataclass: one side of an evaluation."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str: ...

    @property
    def flags(self) -> tuple[str, ...]: ...


_AnySide = TypeVar("_AnySide", bound=_Side)


def costs_from_flags(values: Sequence[str]) -> list[int]:
    """The costs that --callee_saved_costs names, without repetition.

    Raises: RunError: a value is no whole number from 1 to 2^32 - 1.
    """
    if wrong := [value for value in values if not value.isdecimal() or not 0 < int(value) < 2**32]:
        raise RunError(f"{_FLAG}={','.join(values)}", f"holds {wrong[0]!r}", "Give whole numbers of at least 1: 32768")
    return sorted(set(map(int, values)))


def cost_flags(cost: int) -> tuple[str, str]:
    """The cc1 flags, which are the driver's too."""
    return "-mllvm", f"{_OPTION}={cost}"


def with_costs(sides: Sequence[_AnySide], costs: Sequence[int]) -> list[_AnySide]:
    """Further sides: each of `sides` with each cost."""
    return [
        dataclasses.replace(side, name=f"{side.name}{_MARK}{cost}", flags=(*side.flags, *cost_flags(cost)))
        for cost in costs
        for side in sides
    ]


def side_and_cost(name: str) -> tuple[str, int] | None:
    """The name of a side and the cost that `with_costs` made the name `name` of; None: it did not make it."""
    side, mark, cost = name.rpartition(_MARK)
    return (side, int(cost)) if mark and cost.isdecimal() else None
