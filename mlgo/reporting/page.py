"""A page as data: sections of blocks, which templates/ render as HTML and markdown.py as Markdown. Says what, never how it looks."""

import dataclasses
import enum
from collections.abc import Sequence

from mlgo.evaluation.statistics import RatioSummary


class Tone(enum.StrEnum):
    """How good a figure is; what it is called in the style sheet."""

    BETTER = "better"
    WORSE = "worse"
    EQUAL = "equal"  # Not known to differ.
    PLAIN = "plain"


@dataclasses.dataclass(frozen=True)
class Change:
    """A change in percent with its 95 % interval; minus is better."""

    percent: float
    low: float
    high: float

    @classmethod
    def of(cls, summary: RatioSummary) -> "Change":
        """The change that a ratio is."""
        return cls(*(100.0 * (value - 1.0) for value in (summary.geometric_mean, summary.low, summary.high)))

    @property
    def tone(self) -> Tone:
        """Whether the interval leaves a doubt about the sign."""
        if self.high < 0.0:
            return Tone.BETTER
        return Tone.WORSE if self.low > 0.0 else Tone.EQUAL

    @property
    def verdict(self) -> str:
        """The same in words."""
        return {Tone.BETTER: "better", Tone.WORSE: "worse"}.get(self.tone, "not known to differ")


@dataclasses.dataclass(frozen=True)
class Card:
    """A headline figure. Attributes: title: of what; change: the figure; unit, samples: what it is of, and of how many."""

    title: str
    change: Change
    unit: str
    samples: str


@dataclasses.dataclass(frozen=True)
class Point:
    """An argument for or against a policy, in a sentence."""

    tone: Tone
    text: str


@dataclasses.dataclass(frozen=True)
class Paragraph:
    text: str
    kind = "paragraph"


@dataclasses.dataclass(frozen=True)
class Facts:
    """Terms and what they are; `code`: set in the type of programs, as digests are."""

    rows: Sequence[tuple[str, str]]
    code: bool = False
    kind = "facts"


@dataclasses.dataclass(frozen=True)
class Cell:
    """One cell of a table. Attributes: number: set flush right; code: a name out of a program; folded: what stands there until a reader asks."""

    text: str
    tone: Tone = Tone.PLAIN
    number: bool = False
    code: bool = False
    folded: str = ""

    @classmethod
    def of_name(cls, name: str, longest: int = 100) -> "Cell":
        """A module's or function's name; a template's instance can have thousands of letters."""
        return cls(name, code=True, folded=f"{name[: longest - 1]}…" if len(name) > longest else "")


@dataclasses.dataclass(frozen=True)
class Table:
    """A table. Attributes: caption; columns: their heads; rows: as long as the head; the first cell of a row names it."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    kind = "table"

    def __post_init__(self):
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"table {self.caption!r}: a row is not as long as the head")


@dataclasses.dataclass(frozen=True)
class Mark:
    """Where something is in a drawing, in percent of its width from the left, or of its height from the bottom up."""

    at: float
    label: str


@dataclasses.dataclass(frozen=True)
class ForestRow:
    """An interval in a drawing.

    Attributes:
      group: above its first row, a heading; "" below the same heading.
      label, note: what it is, and of how many samples.
      change: the figures.
      left, right, dot: of the interval and of its middle, percent of the width.
      emphasised: whether it is what the page is about, or only for comparison.
    """

    group: str
    label: str
    note: str
    change: Change
    left: float
    right: float
    dot: float
    emphasised: bool


@dataclasses.dataclass(frozen=True)
class Forest:
    """Intervals on one scale, a row each. Attributes: zero: where 0 % is; ticks: of the scale."""

    caption: str
    rows: Sequence[ForestRow]
    ticks: Sequence[Mark]
    zero: float
    kind = "forest"


@dataclasses.dataclass(frozen=True)
class Series:
    """A line with dots, or without. Attributes: points: (x, y) in percent, y from the top; titles: of the dots, "" for none; style: its class."""

    label: str
    points: Sequence[tuple[float, float]]
    titles: Sequence[str]
    style: str


@dataclasses.dataclass(frozen=True)
class Band:
    """An area between two lines; `outline` goes around it, (x, y) in percent, y from the top."""

    label: str
    outline: Sequence[tuple[float, float]]
    style: str


@dataclasses.dataclass(frozen=True)
class Lines:
    """Lines over iterations.

    Attributes:
      caption: below it.
      description: in words what can be seen, for who cannot see it.
      horizontal, vertical: ticks; the name of the horizontal axis and the unit of the vertical one are in the caption.
      zero: where 0 is from the top, in percent; None: it is not in the drawing.
      bands, series: back to front.
      star: (x, y) of what was chosen; None: nothing is marked.
      small: whether several stand side by side.
    """

    caption: str
    description: str
    horizontal: Sequence[Mark]
    vertical: Sequence[Mark]
    zero: float | None
    bands: Sequence[Band]
    series: Sequence[Series]
    star: tuple[float, float] | None = None
    small: bool = False
    kind = "lines"


@dataclasses.dataclass(frozen=True)
class Bar:
    """A bar of a histogram. Attributes: left, width, height: percent; title: what it counts."""

    left: float
    width: float
    height: float
    tone: Tone
    title: str


@dataclasses.dataclass(frozen=True)
class Histogram:
    """How often which change occurs; see Lines."""

    caption: str
    description: str
    bars: Sequence[Bar]
    horizontal: Sequence[Mark]
    vertical: Sequence[Mark]
    kind = "histogram"


@dataclasses.dataclass(frozen=True)
class RankedBar:
    """Attributes: label: what; text: its figure; width, low, high: of the bar and of its interval, percent; no interval: both None."""

    label: str
    text: str
    width: float
    low: float | None = None
    high: float | None = None


@dataclasses.dataclass(frozen=True)
class Ranking:
    """Bars by length."""

    caption: str
    bars: Sequence[RankedBar]
    kind = "ranking"


@dataclasses.dataclass(frozen=True)
class Commands:
    """Lines to paste into a shell. `about` says what for."""

    about: str
    lines: Sequence[str]
    kind = "commands"


@dataclasses.dataclass(frozen=True)
class SideBySide:
    """Small drawings, as many beside each other as there is room for."""

    blocks: Sequence[Lines | Histogram]
    kind = "side"


@dataclasses.dataclass(frozen=True)
class Group:
    """Blocks below a heading of their own."""

    title: str
    blocks: Sequence["Block"]
    kind = "group"


@dataclasses.dataclass(frozen=True)
class Details:
    """Blocks that are shown when asked for, and in print."""

    summary: str
    blocks: Sequence["Block"]
    kind = "details"


Block = Paragraph | Facts | Table | Forest | Lines | Histogram | Ranking | Commands | SideBySide | Group | Details


@dataclasses.dataclass(frozen=True)
class Section:
    """Attributes: anchor: its id; title; short: in the navigation; blocks."""

    anchor: str
    title: str
    short: str
    blocks: Sequence[Block]


@dataclasses.dataclass(frozen=True)
class Page:
    """Attributes: title; lead: in a sentence what this is about; verdict: in a sentence what came out; points: what speaks for and against;
    cards: the headline figures; sections."""

    title: str
    lead: str
    verdict: Point
    points: Sequence[Point]
    cards: Sequence[Card]
    sections: Sequence[Section]
