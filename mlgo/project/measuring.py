"""Measures the rows of a program within a budget of CPU time."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable, Sequence

from mlgo.project.compiler import Compiler
from mlgo.project.compiling import Compiled
from mlgo.project.programs import Program
from mlgo.project.relinking import Parts, Relinker
from mlgo.project.rows import AS_BUILT, ROWS, Row
from mlgo.project.size import Size, size_of
from mlgo.run.exit_codes import RunError

#: Rows whose files differ by less are equally small.
_AS_SMALL = 0.001


@dataclasses.dataclass(frozen=True)
class Measured:
    """A row with its result.

    Attributes:
      size: None: it was not measured.
      seconds: CPU time of its compiles; None: unknown.
      why_not: why it was not measured.
      refused: source -> why the object of the build stands in its place.
    """

    row: Row
    size: Size | None
    seconds: float | None = None
    why_not: str = ""
    refused: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Budget:
    """CPU seconds that compiles may take. The first row that compiles always runs."""

    seconds: float
    spent: float = 0.0

    def refuses(self, estimate: float) -> bool:
        return self.spent > 0 and self.spent + estimate > self.seconds


def measure(
    program: Program,
    parts: Parts,
    relinker: Relinker,
    compiler: Compiler,
    scratch: pathlib.Path,
    budget: Budget,
    say: Callable[[str], None],
    rows: Sequence[Row] = ROWS,
) -> list[Measured]:
    """The program as it was built, then each of `rows`. Rows that fail or do not fit say why."""
    built = pathlib.Path(program.link.output)
    found = [Measured(AS_BUILT, size_of(built, scratch, compiler), parts.seconds())]
    compiled: dict[tuple[str, ...], dict[str, Compiled]] = {}
    base = parts.seconds()
    for row in rows:
        if row.compile_flags is not None and row.compile_flags not in compiled:
            estimate = base * row.factor
            if budget.refuses(estimate):
                why = f"needs {estimate:.0f} s more than the budget's {budget.seconds:.0f} s leaves"
                found.append(Measured(row, None, why_not=why))
                continue
            say(f"{row.name}: compiling {len(parts.units)} units, about {estimate:.0f} CPU seconds")
            done = relinker.compile(row.compile_flags)
            compiled[row.compile_flags] = done
            budget.spent += sum(one.seconds for one in done.values() if not one.was_kept)
        objects = compiled.get(row.compile_flags or (), {})
        found.append(_measure_row(row, program, objects, relinker, compiler, scratch, base))
    return found


def _measure_row(
    row: Row,
    program: Program,
    objects: dict[str, Compiled],
    relinker: Relinker,
    compiler: Compiler,
    scratch: pathlib.Path,
    base: float,
) -> Measured:
    refused = {output: one.reason for output, one in objects.items() if one.object is None}
    if objects and len(refused) == len(objects):
        return Measured(row, None, why_not=f"no unit compiles: {next(iter(refused.values()))}")
    # A link with sources compiles them, so it gets the flags of compiles too.
    flags = row.config if program.link.sources else (*_passed_to_links(row), *row.link_flags)
    try:
        linked, seconds = relinker.link(program.link, objects, flags, built_name(program))
        size = size_of(linked, scratch, compiler)
    except RunError as error:
        return Measured(row, None, why_not=f"{error.subject}: {error.wrong}", refused=refused)
    total = sum(one.seconds for one in objects.values()) if objects else base
    return Measured(row, size, total + (seconds if program.link.sources else 0.0), refused=refused)


def _passed_to_links(row: Row) -> tuple[str, ...]:
    return tuple(flag for flag in row.compile_flags or () if flag.startswith("-flto"))


def built_name(program: Program) -> str:
    """File name of a program."""
    return pathlib.PurePath(program.link.output).name


def best(measured: Sequence[Measured]) -> Measured | None:
    """The row with the smallest file; of rows within a thousandth of it, the one that compiles fastest.

    Returns: None: no row is smaller than the build.
    """
    built = measured[0].size
    assert built is not None
    smaller = [
        (one.size.file, one.seconds or 0.0, one.size.code, one)
        for one in measured[1:]
        if one.size is not None and one.row.can_be_chosen and one.size.file < built.file
    ]
    if not smaller:
        return None
    limit = min(file for file, *_ in smaller) * (1 + _AS_SMALL)
    return min((each for each in smaller if each[0] <= limit), key=lambda each: each[1:3])[-1]
