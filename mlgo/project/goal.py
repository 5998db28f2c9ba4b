"""What a command asks of a program: its figures, the rows that may improve them, and which row is best."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable, Mapping, Sequence

from mlgo.project.compiler import Compiler
from mlgo.project.counting import Runs
from mlgo.project.estimate import Estimate
from mlgo.project.profile import Profiler
from mlgo.project.rows import ESTIMATED_ROWS, SMALLER_ROWS, Row
from mlgo.project.size import size_of

Figures = Mapping[str, int]
#: Files whose sizes differ by less are equally small.
_LEAST_BYTES = 0.001
#: What alignment takes where linkers place functions in another order. A program with so much more code has not more.
_PADDING_BYTES = 16
#: The same for counts.
_LEAST_COUNTS = 0.001


@dataclasses.dataclass(frozen=True)
class Measured:
    """A row with its result.

    Attributes:
      figures: name -> number, in the order of the columns; None: it was not measured.
      seconds: CPU time of its compiles; None: unknown.
      why_not: why it was not measured.
      refused: source -> why the object of the build stands in its place.
      decisions: text of the decision file that it was compiled with.
      profile: content of the profile that it was compiled with.
    """

    row: Row
    figures: Figures | None
    seconds: float | None = None
    why_not: str = ""
    refused: dict[str, str] = dataclasses.field(default_factory=dict)
    decisions: str = ""
    profile: bytes = b""


@dataclasses.dataclass(frozen=True)
class Goal:
    """What a command asks.

    Attributes:
      verb: the command.
      kind: what the figures are, as mlgo.json names them.
      measure: of a linked program, the first one as it was built; or of compiles, the first ones with the options of
        the build.
      rows: the variants, in the order in which they are tried.
      decides: the figures whose sum a better row has less of.
      least_gain: a gain below this share is none; rows that differ by less than this are equal.
      better, explanation: for the page.
      profiler: makes the profile for rows that need one.
    """

    verb: str
    kind: str
    measure: Callable[[pathlib.Path], Figures] | Estimate
    rows: Sequence[Row]
    decides: Sequence[str]
    least_gain: float
    better: str
    explanation: str
    profiler: Profiler | None = None

    @property
    def estimate(self) -> Estimate | None:
        """What measures compiles; None: linked programs are measured."""
        return self.measure if isinstance(self.measure, Estimate) else None

    @property
    def unit(self) -> str:
        """Of the figures, as a table has it: what `stat` says of a program with symbols is more."""
        return "bytes; file: stripped" if self.verb == "smaller" else self.kind

    def value(self, figures: Figures) -> int:
        """What a better row has less of."""
        return sum(figures[name] for name in self.decides)

    def best(self, measured: Sequence[Measured]) -> Measured | None:
        """The row with the least value; of rows that equal it, the one with the least code, and of these the first.

        Where bytes are asked for, code counts beside the file, whose bytes come in pages and gaps. A row with more code
        than the build is the best only if the others have more too.

        Args: measured: the build first.
        Returns: None: no row is better than the build.
        """
        built = measured[0].figures
        assert built is not None
        limit = self.value(built) * (1 - self.least_gain)
        # A file that stays within its pages may have less code.
        asks_code = self.verb == "smaller"
        code = _code(built) * (1 - self.least_gain) if asks_code else 0.0
        better = [
            one
            for one in measured[1:]
            if one.figures is not None
            and one.row.can_be_chosen
            and (
                self.value(one.figures) < limit
                or (self.value(one.figures) <= self.value(built) and _code(one.figures) < code)
            )
        ]
        most = _code(built) * (1 + self.least_gain) + _PADDING_BYTES
        if asks_code:
            better = [one for one in better if _code(one.figures or built) <= most] or better
        for value in (lambda one: self.value(one) + (_code(one) if asks_code else 0), _code):
            least = min((value(one.figures) for one in better if one.figures), default=0) * (1 + self.least_gain)
            better = [one for one in better if one.figures and value(one.figures) <= least]
        return better[0] if better else None


def _code(figures: Figures) -> int:
    return figures["code"]


def smaller(compiler: Compiler, scratch: pathlib.Path) -> Goal:
    """A smaller file."""
    return Goal(
        "smaller",
        "bytes",
        lambda image: size_of(image, scratch, compiler),
        SMALLER_ROWS,
        ("file",),
        _LEAST_BYTES,
        "is smaller",
        "Bytes. Code: executable sections. File: without symbols and debug information. xz, brotli: that file, "
        "compressed. Linker: lld drops unused sections, folds equal code, and leaves fewer gaps than GNU ld "
        "between segments, which in a small file is most of the gain. Code at -Oz may run slower than at -O2: "
        "run your benchmarks.",
    )


def faster(runs: Runs, counter: str, rows: Sequence[Row], profiler: Profiler | None = None) -> Goal:
    """Fewer executed instructions and data references."""
    figures = runs.counted
    return Goal(
        "faster",
        "counts",
        runs.figures_of,
        rows,
        figures,
        _LEAST_COUNTS,
        "executes less",
        f"What the runs execute, counted by {counter}: {' and '.join(figures)}. Their sum decides. Code: bytes of "
        "executable sections. Counts are no times: run your benchmarks. "
        f"{profiler.explanation if profiler else ''}",
        profiler,
    )


def faster_by_estimate(estimate: Estimate) -> Goal:
    """Less executed, as the compiler estimates it."""
    return Goal(
        "faster",
        "estimates",
        estimate,
        ESTIMATED_ROWS,
        estimate.counted,
        _LEAST_COUNTS,
        "executes less",
        "What one call of each function executes, summed over the functions of the program; where the build uses a "
        "profile, times the calls that it has. The compiler counts each instruction and each data reference as often "
        "as its block runs per call, after register allocation. Their sum decides. The link is not in it: the estimate "
        "says nothing of folded code, of the outliner or of dropped sections. Code: bytes of executable sections of "
        "the objects.",
    )
