"""A page as data: sections of blocks. rendering.py writes it as HTML, markdown.py as Markdown, terminal.py as text."""

import dataclasses
from collections.abc import Sequence

from mlgo.evaluation.statistics import RatioSummary
from mlgo.pages.change import Change, Tone
from mlgo.pages.charts import Forest, Lines, Ranking
from mlgo.pages.numbers import number, percent_of

#: `folded` of a cell with commands.
COMMANDS = "commands"

#: What most pages end with.
HOW_TO_READ = "Negative changes are better. Intervals are 95 % bootstraps over modules unless stated otherwise."


class _OfTexts:
    """Checks that fields declared as texts are texts: values of results that others wrote may be anything."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]  # Subclasses are data classes.
            if field.type in (str, "str") and not isinstance(getattr(self, field.name), str):
                raise TypeError(f"{field.name} is {getattr(self, field.name)!r:.40}, not a text")


@dataclasses.dataclass(frozen=True)
class Card(_OfTexts):
    """A headline figure. Attributes: title; change: the figure; unit, samples: what was measured, and how many."""

    title: str
    change: Change
    unit: str
    samples: str


@dataclasses.dataclass(frozen=True)
class Point(_OfTexts):
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
    """A cell."""

    text: str
    tone: Tone = Tone.PLAIN
    number: bool = False  #: aligned right.
    code: bool = False  #: monospaced.
    folded: str = ""  #: text shown until it is unfolded.
    title: str = ""  #: tooltip.
    #: length of a bar beside the text, -100 (left of the middle) to 100 (right of it); None: no bar.
    bar: float | None = None

    @classmethod
    def of_name(cls, name: str, longest: int = 100) -> "Cell":
        """A module's or function's name, folded when it is longer than `longest`."""
        return cls(name, code=True, folded=f"{name[: longest - 1]}…" if len(name) > longest else "")

    @classmethod
    def of_number(cls, value: float, digits: int = 0) -> "Cell":
        return cls(number(value, digits), number=True)

    @classmethod
    def of_ratio(cls, ratio: float | None) -> "Cell":
        """A ratio as a change in percent; None: empty."""
        return cls("" if ratio is None else percent_of(ratio), number=True)

    @classmethod
    def of_summary(cls, summary: RatioSummary | None) -> "tuple[Cell, Cell]":
        """The change and its interval; empty without a summary."""
        if summary is None:
            return cls("", number=True), cls("", number=True)
        change = Change.of(summary)
        return cls(change.percent_text, change.tone, True), cls(change.interval_text, number=True)


@dataclasses.dataclass(frozen=True)
class Table:
    """A table; the first cell of a row is the row's title."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    kind = "table"

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"table {self.caption!r}: a row is not as long as the head")


@dataclasses.dataclass(frozen=True)
class SideBySide:
    """Small charts, side by side as far as the page is wide enough."""

    blocks: Sequence[Lines]
    kind = "side"


@dataclasses.dataclass(frozen=True)
class Group(_OfTexts):
    """Blocks below a heading. Attributes: marked: whether the group stands out among others."""

    title: str
    blocks: Sequence["Block"]
    marked: bool = False
    kind = "group"


@dataclasses.dataclass(frozen=True)
class Details:
    """Blocks that are folded on screen and shown in print."""

    summary: str
    blocks: Sequence["Block"]
    kind = "details"


Block = Paragraph | Facts | Table | Forest | Lines | Ranking | SideBySide | Group | Details


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
    """A page. Attributes: lead: the subject in a sentence; verdict: the result; None: the page has none."""

    title: str
    lead: str
    verdict: Point | None
    points: Sequence[Point]
    cards: Sequence[Card]
    sections: Sequence[Section]
    kind: str = "mlgo report"
    ending: str = HOW_TO_READ
