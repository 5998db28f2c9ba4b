"""Scales of charts: round ticks, and positions in percent of a chart's width or height."""

import dataclasses
import math
from collections.abc import Iterable

from mlgo.pages.numbers import number


@dataclasses.dataclass(frozen=True)
class Mark:
    """A tick. Attributes: at: percent of the width from the left, or of the height from the bottom."""

    at: float
    label: str


@dataclasses.dataclass(frozen=True)
class Scale:
    """Maps [low, high] to 0 .. 100 percent, with ticks every `step`. Raises: ValueError: an empty or infinite range."""

    low: float
    high: float
    step: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high and self.step > 0):
            raise ValueError(f"no scale goes from {self.low} to {self.high} in steps of {self.step}")

    @classmethod
    def around(cls, values: Iterable[float], ticks: int = 5) -> "Scale":
        """A scale that holds all of `values`, with about `ticks` ticks at 1, 2 or 5 times a power of ten."""
        known = [value for value in values if math.isfinite(value)] or [0.0]
        low, high = min(known), max(known)
        if high - low < 1e-12 * max(1.0, abs(high)):
            # All values are equal: they lie in the middle of the chart.
            margin = (abs(low) if abs(low) > 1e-12 else 1.0) / 2.0
            low, high = low - margin, high + margin
        step = _round_step((high - low) / ticks)
        return cls(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step, step)

    @classmethod
    def of_steps(cls, steps: Iterable[float]) -> "Scale":
        """A scale of whole steps, such as iterations, from the first to the last. Args: steps: at least one."""
        known = list(steps)
        first, last = min(known), max(known)
        return cls(first, max(last, first + 1), max(1.0, cls.around([first, last], 4).step))

    def at(self, value: float) -> float:
        """The position of `value` between low and high in percent, with two digits."""
        return round(100.0 * (min(max(value, self.low), self.high) - self.low) / (self.high - self.low), 2)

    def from_top(self, value: float) -> float:
        """The same from the top of a vertical scale."""
        return round(100.0 - self.at(value), 2)

    def ticks(self, signed: bool = False, suffix: str = "") -> list[Mark]:
        """Marks at every step. Args: signed: "+2" instead of "2"; suffix: such as " %"."""
        digits = max(0, -math.floor(math.log10(self.step) + 1e-9))
        count = math.floor((self.high - self.low) / self.step + 1e-9)
        values = [self.low + index * self.step for index in range(count + 1)]
        return [Mark(self.at(value), f"{number(value, digits, signed)}{suffix}") for value in values]


def _round_step(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= step * (1.0 - 1e-9))
