"""A page as data: sections of blocks, which templates/ render as HTML and markdown.py as Markdown."""

import dataclasses
import enum
from collections.abc import Sequence

from mlgo.evaluation.statistics import RatioSummary
from mlgo.evaluation.verdict import Claim, judge_summary

#: `folded` of a cell with commands.
COMMANDS = "commands"


class Tone(enum.StrEnum):
    """How good a figure is; also its class in the style sheet."""

    BETTER = "better"
    WORSE = "worse"
    EQUAL = "equal"  # Not known to differ.
    PLAIN = "plain"


class _OfTexts:
    """Checks that fields declared as texts are texts: values of results that others wrote may be anything."""

    def __post_init__(self):
        for field in dataclasses.fields(self):
            if field.type in (str, "str") and not isinstance(getattr(self, field.name), str):
                raise TypeError(f"{field.name} is {getattr(self, field.name)!r:.40}, not a text")


@dataclasses.dataclass(frozen=True)
class Change:
    """A change in percent with its 95 % interval; minus is better.

    Attributes: claim: what may be said of it; None: what the interval says.
    """

    percent: float
    low: float
    high: float
    claim: Claim | None = None

    @classmethod
    def of(cls, summary: RatioSummary, claim: Claim | None = None) -> "Change":
        """The change of a ratio. Args: claim: of several measures together; None: of this one."""
        claim = claim or judge_summary(summary).claim
        return cls.of_ratios(summary.geometric_mean, summary.low, summary.high, claim)

    @classmethod
    def of_ratios(cls, ratio: float, low: float, high: float, claim: Claim | None = None) -> "Change":
        """The change of a ratio with its interval."""
        percent, lowest, highest = (100.0 * (value - 1.0) for value in (ratio, low, high))
        return cls(percent, lowest, highest, claim)

    @property
    def tone(self) -> Tone:
        """BETTER or WORSE where the interval excludes 0 and nothing forbids the claim, else EQUAL."""
        if self.claim is not None:
            return tone_of(self.claim)
        if self.high < 0.0:
            return Tone.BETTER
        return Tone.WORSE if self.low > 0.0 else Tone.EQUAL

    @property
    def verdict(self) -> str:
        """The claim in words."""
        if self.claim in (Claim.TOO_SMALL, Claim.DISAGREEING):
            return claim_text(self.claim)
        return {Tone.BETTER: "better", Tone.WORSE: "worse"}.get(self.tone, "not known to differ")


def tone_of(claim: Claim) -> Tone:
    """The tone of a claim: only a difference has a colour."""
    return {Claim.BETTER: Tone.BETTER, Claim.WORSE: Tone.WORSE}.get(claim, Tone.EQUAL)


def claim_text(claim: Claim) -> str:
    """A claim in words."""
    return "not known to differ" if claim is Claim.NO_DIFFERENCE else claim.value


@dataclasses.dataclass(frozen=True)
class Card(_OfTexts):
    """A headline figure. Attributes: title; change: the figure; unit, samples: what was measured, and how many."""

    title: str
    change: Change
    unit: str
    samples: str


@dataclasses.dataclass(frozen=True)
class Point(_OfTexts):
    """An argument for or against a policy, in a sentence."""

    tone: Tone
    text: str


@dataclasses.dataclass(frozen=True)
class Paragraph(_OfTexts):
    text: str
    kind = "paragraph"


@dataclasses.dataclass(frozen=True)
class Facts:
    """Terms and their values. Attributes: code: values are set in a monospaced font."""

    rows: Sequence[tuple[str, str]]
    code: bool = False
    kind = "facts"


@dataclasses.dataclass(frozen=True)
class Cell(_OfTexts):
    """A cell.

    Attributes: number: aligned right; code: monospaced; folded: text shown until it is unfolded; title: tooltip.
    """

    text: str
    tone: Tone = Tone.PLAIN
    number: bool = False
    code: bool = False
    folded: str = ""
    title: str = ""

    @classmethod
    def of_name(cls, name: str, longest: int = 100) -> "Cell":
        """A module's or function's name, folded when it is longer than `longest`."""
        return cls(name, code=True, folded=f"{name[: longest - 1]}…" if len(name) > longest else "")


@dataclasses.dataclass(frozen=True)
class Table:
    """A table. Attributes: caption; columns: titles; rows: as long as `columns`, the first cell is the row's title."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    kind = "table"

    def __post_init__(self):
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"table {self.caption!r}: a row is not as long as the head")


@dataclasses.dataclass(frozen=True)
class Mark:
    """A position in a drawing, in percent of its width from the left, or of its height from the bottom."""

    at: float
    label: str


@dataclasses.dataclass(frozen=True)
class ForestRow:
    """An interval in a drawing.

    Attributes:
      group: heading above the row; "" where it is the previous row's.
      label, note: name and sample counts.
      change: the figures.
      left, right, dot: ends and middle of the interval, percent of the width.
      emphasised: whether the row is of a policy rather than for comparison.
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
    """Intervals on one scale, one per row. Attributes: zero: position of 0 %; ticks: of the scale."""

    caption: str
    rows: Sequence[ForestRow]
    ticks: Sequence[Mark]
    zero: float
    kind = "forest"


@dataclasses.dataclass(frozen=True)
class Series:
    """A line. Attributes: points: (x, y) in percent, y from the top; titles: of dots, if any; style: its class."""

    label: str
    points: Sequence[tuple[float, float]]
    titles: Sequence[str]
    style: str


@dataclasses.dataclass(frozen=True)
class Band:
    """An area between two lines. Attributes: outline: (x, y) in percent, y from the top."""

    label: str
    outline: Sequence[tuple[float, float]]
    style: str


@dataclasses.dataclass(frozen=True)
class Lines:
    """Lines over iterations.

    Attributes:
      caption: below it.
      description: text alternative for screen readers.
      horizontal, vertical: ticks; the caption names the axes and units.
      zero: position of 0 from the top, in percent; None: outside the drawing.
      bands, series: back to front.
      star: (x, y) of the chosen iteration; None: not marked.
      small: whether several are drawn side by side.
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
    """A bar of a histogram. Attributes: left, width, height: percent; title: its tooltip."""

    left: float
    width: float
    height: float
    tone: Tone
    title: str


@dataclasses.dataclass(frozen=True)
class Histogram:
    """A histogram of changes; attributes as of Lines."""

    caption: str
    description: str
    bars: Sequence[Bar]
    horizontal: Sequence[Mark]
    vertical: Sequence[Mark]
    kind = "histogram"


@dataclasses.dataclass(frozen=True)
class RankedBar:
    """Attributes: label; text: the figure; width, low, high: of the bar and its interval, percent; None: no interval"""

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
    """Shell commands. Attributes: about: their purpose."""

    about: str
    lines: Sequence[str]
    kind = "commands"


@dataclasses.dataclass(frozen=True)
class SideBySide:
    """Small drawings, side by side as far as the page is wide enough."""

    blocks: Sequence[Lines | Histogram]
    kind = "side"


@dataclasses.dataclass(frozen=True)
class Group:
    """Blocks below a heading."""

    title: str
    blocks: Sequence["Block"]
    kind = "group"


@dataclasses.dataclass(frozen=True)
class Details:
    """Blocks that are folded on screen and shown in print."""

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


def grouped_section(
    anchor: str, title: str, short: str, groups: Sequence[tuple[str, Sequence[Block]]]
) -> Section | None:
    """A section of (heading, blocks); one group needs no heading. None: there are no blocks."""
    filled = [(heading, blocks) for heading, blocks in groups if blocks]
    shown = [blocks if len(groups) == 1 else [Group(heading, blocks)] for heading, blocks in filled]
    return Section(anchor, title, short, [block for blocks in shown for block in blocks]) if shown else None


@dataclasses.dataclass(frozen=True)
class Page:
    """Attributes: title; lead: the subject in a sentence; verdict: the result in a sentence; points: arguments for and
    against; cards: headline figures; sections."""

    title: str
    lead: str
    verdict: Point
    points: Sequence[Point]
    cards: Sequence[Card]
    sections: Sequence[Section]
