"""Measures programs on all sides, several at a time, and says which programs cannot be compared."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlgo.evaluation.programs import size
from mlgo.evaluation.programs.building import BuildFailure
from mlgo.evaluation.programs.counters import CounterFailure
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.running import RunFailure
from mlgo.evaluation.sides import Side
from mlgo.run import child, progress, signals
from mlgo.run.exit_codes import RunError


@dataclasses.dataclass(frozen=True)
class Table:
    """One part of an evaluation."""

    rows: dict[str, dict[str, dict[str, Any]]]  #: program -> side -> measure -> number or None.
    left_out: dict[str, str]  #: program that cannot be built or fails on some side -> reason.
    differing: dict[str, str]  #: program that behaves differently on some side -> reason.


@dataclasses.dataclass(frozen=True)
class _Failed:
    """Attributes: reason: for the user; differs: the program was measured, and behaves differently."""

    reason: str
    differs: bool = False


def of_all_sides(
    table: Table,
    programs: Sequence[Program],
    sides: Sequence[Side],
    measure: Callable[[Program, Side], dict[str, Any]],
    workers: int,
    bar: progress.Progress,
) -> dict[str, dict[str, dict[str, Any]]]:
    """Program -> side -> result of `measure`, of the programs that can be compared on all sides.

    The first side that fails, in their order, decides why a program is left out, so that the order in which several end
    changes nothing.

    Args: table: gets the reasons of the others; measure: its result has "outputs", digests of the program's output by
      run.
    """
    failed: dict[str, int] = {}

    def attempt(pair: tuple[Program, int]) -> dict[str, Any] | _Failed:
        program, number = pair
        if failed.get(program.name, number) < number:
            return _Failed("an earlier side failed")
        try:
            return measure(program, sides[number])
        except signals.KilledFromOutside:
            raise  # It says nothing about the program.
        except (BuildFailure, RunFailure, CounterFailure, size.OutputDiffers, RunError) as error:
            failed[program.name] = min(number, failed.get(program.name, number))
            reason = f"{sides[number].name}: {error}" if isinstance(error, RunError) else str(error)
            return _Failed(reason, differs=isinstance(error, size.OutputDiffers))

    pairs = [(program, number) for program in programs for number in range(len(sides))]
    results = iter(child.in_parallel(workers, attempt, pairs, bar))
    comparable: dict[str, dict[str, dict[str, Any]]] = {}
    for program in programs:
        found = _comparable(dict(zip([side.name for side in sides], results)))
        if isinstance(found, _Failed):
            (table.differing if found.differs else table.left_out)[program.name] = found.reason
        else:
            comparable[program.name] = found
    return comparable


def _comparable(of_sides: Mapping[str, dict[str, Any] | _Failed]) -> dict[str, dict[str, Any]] | _Failed:
    default, taken = next(iter(of_sides)), {}
    for side, found in of_sides.items():
        if isinstance(found, _Failed):
            return found
        taken[side] = found
        if found["outputs"] != taken[default]["outputs"]:
            what = size.differing(taken[default]["outputs"], found["outputs"])
            return _Failed(f"{side}: {what} does not give what {default} gives", differs=True)
    return taken
