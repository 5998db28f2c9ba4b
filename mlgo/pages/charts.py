"""Charts as data: values that templates/ draw as SVG. Changes are in percent of the default; negative is better."""

import dataclasses
import functools
import math
from collections.abc import Iterable, Sequence

from mlgo.evaluation.statistics import RatioSummary
from mlgo.pages.change import Change
from mlgo.pages.numbers import number, share_text

#: (x, y) of a line, in the units of the chart.
Points = Sequence[tuple[float, float]]


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


@dataclasses.dataclass(frozen=True)
class ForestRow:
    """An interval in a chart."""

    group: str  #: heading above the row; shown where it differs from the previous row's.
    #: label, note: name and sample counts.
    label: str
    note: str
    change: Change
    emphasised: bool  #: whether the row is of a policy rather than for comparison.

    @classmethod
    def of(cls, group: str, label: str, summary: RatioSummary, emphasised: bool) -> "ForestRow":
        """The row of a summary, with the counts of its functions or modules."""
        note = f"{summary.better} better, {summary.worse} worse, {summary.equal} equal"
        return cls(group, label, note, Change.of(summary), emphasised)


@dataclasses.dataclass(frozen=True)
class Forest:
    """Intervals on one scale that contains 0, one per row."""

    caption: str
    rows: Sequence[ForestRow]
    kind = "forest"

    @functools.cached_property
    def scale(self) -> Scale:
        changes = [row.change for row in self.rows]
        return Scale.around([0.0, *(value for each in changes for value in (each.low, each.high, each.percent))], 4)


@dataclasses.dataclass(frozen=True)
class Series:
    """A line. Attributes: style: its class; titles: tooltips of its points, which then have dots."""

    label: str
    points: Points
    style: str
    titles: Sequence[str] = ()


@dataclasses.dataclass(frozen=True)
class Band:
    """The area between two lines. Attributes: style: its class."""

    label: str
    lower: Points
    upper: Points
    style: str

    @property
    def outline(self) -> Points:
        return (*self.upper, *reversed(self.lower))


@dataclasses.dataclass(frozen=True)
class Lines:
    """Lines over whole steps, such as iterations."""

    caption: str
    description: str  #: text alternative for screen readers.
    #: series, bands: back to front; at least one series with a point.
    series: Sequence[Series]
    bands: Sequence[Band] = ()
    star: tuple[float, float] | None = None  #: (x, y) of the chosen iteration; None: not marked.
    small: bool = False  #: whether several are drawn side by side.
    percent: bool = True  #: whether y is a change in percent; then 0 is in the chart.
    kind = "lines"

    @functools.cached_property
    def _points(self) -> Points:
        lines = [each.points for each in self.series] + [each.outline for each in self.bands]
        return [point for line in lines for point in line]

    @functools.cached_property
    def across(self) -> Scale:
        return Scale.of_steps(x for x, _ in self._points)

    @functools.cached_property
    def up(self) -> Scale:
        values = [y for _, y in self._points]
        return Scale.around([0.0, *values]) if self.percent else Scale.around(values, 3)

    @property
    def vertical(self) -> list[Mark]:
        return self.up.ticks(signed=True, suffix=" %") if self.percent else self.up.ticks()

    @property
    def zero(self) -> float | None:
        """The position of 0 from the top, in percent; None: outside the chart."""
        return self.up.from_top(0.0) if self.percent or self.up.low < 0.0 < self.up.high else None

    def place(self, point: tuple[float, float]) -> tuple[float, float]:
        """(percent from the left, percent from the top) of a point."""
        return self.across.at(point[0]), self.up.from_top(point[1])


@dataclasses.dataclass(frozen=True)
class RankedBar:
    """A share with its 95 % interval. Attributes: low, high: None: no interval."""

    label: str
    share: float
    low: float | None = None
    high: float | None = None

    @property
    def text(self) -> str:
        """ "12.3 %"."""
        return share_text(self.share)


@dataclasses.dataclass(frozen=True)
class Ranking:
    """Shares as bars, in the given order."""

    caption: str
    bars: Sequence[RankedBar]
    kind = "ranking"

    def width(self, share: float) -> float:
        """The length of a bar, percent of the longest bar or interval."""
        values = [value for bar in self.bars for value in (bar.share, bar.low, bar.high) if value is not None]
        longest = max((value for value in values if math.isfinite(value)), default=0.0)
        return round(100.0 * min(max(share / longest, 0.0), 1.0), 2) if longest > 0.0 else 0.0
