"""What a command asks of a program: its figures, the rows that may improve them, and which row is best."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence

from mlgo.project.compiler import Compiler
from mlgo.project.counting import Runs
from mlgo.project.estimate import COUNTED, Estimate
from mlgo.project.profile import Profiler
from mlgo.project.rows import ESTIMATED_ROWS, SMALLER_ROWS, Row
from mlgo.project.size import size_of

#: Name -> number, in the order of the columns.
Figures = Mapping[str, int]
#: A gain below this share is none; rows that differ by less than this are equal.
_LEAST_GAIN = 0.001
#: A gain below so many times the difference of two counts of one program is none.
_TIMES_NOISE = 3
#: What alignment takes where linkers place functions in another order. A program with so much more code has not more.
_PADDING_BYTES = 16


@dataclasses.dataclass(frozen=True)
class Measured:
    """A row with its result."""

    row: Row
    figures: Figures | None  #: None: it was not measured.
    seconds: float | None = None  #: CPU time of its compiles; None: unknown.
    why_not: str = ""  #: why it was not measured.
    #: Source -> why the object of the build stands in its place.
    refused: dict[str, str] = dataclasses.field(default_factory=dict)
    decisions: str = ""  #: text of the decision file that it was compiled with.
    profile: bytes = b""  #: content of the profile that it was compiled with.


@dataclasses.dataclass(frozen=True)
class Goal:
    """What a command asks."""

    verb: str  #: the command.
    kind: str  #: what the figures are, as mlgo.json names them.
    rows: Sequence[Row]  #: the variants, in the order in which they are tried.
    decides: Sequence[str]  #: the figures whose sum a better row has less of.
    explanation: str  #: for the page.
    #: Of a linked program, the first one as it was built; None: compiles are measured.
    measure: Callable[[pathlib.Path], Figures] | None
    #: What measures compiles, the first ones with the options of the build.
    estimate: Estimate | None = None
    profiler: Profiler | None = None  #: makes the profile for rows that need one.
    runs: Runs | None = None  #: what is counted.

    def figures_of(self, program: pathlib.Path) -> Figures:
        assert self.measure is not None
        return self.measure(program)

    @property
    def better(self) -> str:
        return "is smaller" if self.verb == "smaller" else "executes less"

    @property
    def unit(self) -> str:
        """Of the figures, as a table has it: what `stat` says of a program with symbols is more."""
        return "bytes; file: stripped" if self.verb == "smaller" else self.kind

    def value(self, figures: Figures) -> int:
        """What a better row has less of."""
        return sum(figures[name] for name in self.decides)

    @property
    def least_gain(self) -> float:
        """As a share."""
        return max(_LEAST_GAIN, _TIMES_NOISE * self.runs.noise) if self.runs else _LEAST_GAIN

    def notes(self) -> list[str]:
        """Sentences about the measurement, once it is done."""
        if self.estimate:
            return self.estimate.notes()
        notes = [self.runs.note] if self.runs and self.runs.note else []
        if self.runs and self.least_gain > _LEAST_GAIN:
            differ = f"two counts of the build's program differ by {self.runs.noise:.2%}".replace("%", " %")
            notes.append(f"{differ}: a gain below three times that is none")
        return notes

    def best(self, measured: Sequence[Measured]) -> Measured | None:
        """The row with the least value; of rows that equal it, the one with the least code, and of these the first.

        Where bytes are asked for, code counts beside the file, whose bytes come in pages and gaps. A row with more code
        than the build is the best only if the others have more too.

        Args: measured: the build first.
        Returns: None: no row is better than the build.
        """
        built = measured[0].figures
        assert built is not None
        asks_code, least_gain = self.verb == "smaller", self.least_gain
        value, code = self.value(built), built["code"]

        def is_better(one: Figures) -> bool:
            # A file that stays within its pages may have less code.
            has_less_code = asks_code and one["code"] < code * (1 - least_gain)
            return self.value(one) < value * (1 - least_gain) or (self.value(one) <= value and has_less_code)

        known = [(one, one.figures) for one in measured[1:] if one.figures is not None and one.row.can_be_chosen]
        better = [(one, figures) for one, figures in known if is_better(figures)]
        if asks_code:
            most = code * (1 + least_gain) + _PADDING_BYTES
            better = [(one, figures) for one, figures in better if figures["code"] <= most] or better
        for cost in (lambda one: self.value(one) + (one["code"] if asks_code else 0), lambda one: one["code"]):
            least = min((cost(figures) for _, figures in better), default=0) * (1 + least_gain)
            better = [(one, figures) for one, figures in better if cost(figures) <= least]
        return better[0][0] if better else None


@dataclasses.dataclass(frozen=True)
class Result:
    """What was found out about a program."""

    goal: Goal
    program: str  #: its path.
    sources: Sequence[str]
    measured: Sequence[Measured]  #: the build first.
    chosen: Measured | None
    others: Mapping[str, str]  #: object or source -> why it stays as it was built.
    notes: Sequence[str]  #: sentences about the build.

    @property
    def name(self) -> str:
        return os.path.basename(self.program)

    @property
    def built(self) -> Figures:
        """The figures of the build."""
        figures = self.measured[0].figures
        assert figures is not None
        return figures

    def changes(self, one: Figures) -> list[tuple[str, str, str]]:
        """Name, number, and change against the build, of each figure; the build's own have no change."""
        built = self.built
        return [(name, f"{one[name]:,}", "" if one is built else percent(one[name], built[name])) for name in built]


def percent(new: int, old: int) -> str:
    """A change, such as "−3.1 %"."""
    return f"{100 * (new / old - 1):+.1f} %".replace("-", "−") if old else ""


def smaller(compiler: Compiler, scratch: pathlib.Path) -> Goal:
    """A smaller file."""
    return Goal(
        "smaller",
        "bytes",
        SMALLER_ROWS,
        ("file",),
        "Bytes. Code: executable sections. File: without symbols and debug information. xz, brotli: that file, "
        "compressed. Linker: lld drops unused sections, folds equal code, and leaves fewer gaps than GNU ld "
        "between segments, which in a small file is most of the gain. Code at -Oz may run slower than at -O2: "
        "run your benchmarks.",
        lambda image: size_of(image, scratch, compiler),
    )


def faster(runs: Runs, rows: Sequence[Row], profiler: Profiler | None = None) -> Goal:
    """Fewer executed instructions and data references."""
    name, figures = runs.counter
    return Goal(
        "faster",
        "counts",
        rows,
        figures,
        f"What the runs execute, counted by {name}: {' and '.join(figures)}. Their sum decides. Code: bytes of "
        "executable sections. Counts are no times: run your benchmarks. "
        f"{profiler.explanation if profiler else ''}",
        runs.figures_of,
        profiler=profiler,
        runs=runs,
    )


def faster_by_estimate(estimate: Estimate) -> Goal:
    """Less executed, as the compiler estimates it."""
    return Goal(
        "faster",
        "estimates",
        ESTIMATED_ROWS,
        COUNTED,
        "What one call of each function executes, summed over the functions of the program; where the build uses a "
        "profile, times the calls that it has. The compiler counts each instruction and each data reference as often "
        "as its block runs per call, after register allocation. Their sum decides. The link is not in it: the estimate "
        "says nothing of folded code, of the outliner or of dropped sections. Code: bytes of executable sections of "
        "the objects.",
        None,
        estimate,
    )
