"""One line of the table of benchmarks."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Row:
    """A measured value; `target` and `held` are None for a figure without a target."""

    name: str
    value: float
    unit: str
    target: float | None = None
    held: bool | None = None

    def __post_init__(self):
        if (self.target is None) != (self.held is None):
            raise ValueError(
                f"row {self.name!r}: target {self.target} and held {self.held} must both be given or both not"
            )


def at_least(name: str, value: float, unit: str, target: float) -> Row:
    return Row(name, value, unit, target, value >= target)


def at_most(name: str, value: float, unit: str, target: float) -> Row:
    return Row(name, value, unit, target, value <= target)
