"""What a published result.json says, as ratios to the default: per library or program, and in the mean."""

import dataclasses
import math
import pathlib
from collections.abc import Collection, Mapping

from mlgo.evaluation.statistics import RatioSummary, ratios_of
from mlgo.reporting.reading import read_result
from mlgo.reporting.records import Content, Evaluation, Kind

DEFAULT = "default"
_MISSING = "the result lacks a measure that a table shows"


@dataclasses.dataclass(frozen=True)
class Change:
    """A ratio to the default, with its 95 % interval where there is one."""

    ratio: float
    low: float | None = None
    high: float | None = None


@dataclasses.dataclass(frozen=True)
class Group:
    """The change of one side over several libraries or programs.

    Attributes:
      mean: geometric mean of the members' ratios.
      worst: name and ratio of the member with the largest ratio.
      without_best: geometric mean of all members but the one with the smallest ratio; None: fewer than three members.
    """

    members: int
    mean: Change
    worst: tuple[str, float]
    without_best: float | None


def read_evaluation(folder: pathlib.Path) -> Evaluation:
    """The result of //mlgo:evaluate in a folder.

    Raises: ValueError: there is none. RunError: it cannot be read.
    """
    result = read_result(folder, folder.name, str(folder), with_rows=False)
    if not isinstance(result, Evaluation):
        raise ValueError(f"{folder}: no result of //mlgo:evaluate")
    return result


def read_programs(folder: pathlib.Path) -> Content:
    """The result of //mlgo:evaluate_programs in a folder.

    Raises: ValueError: there is none. RunError: it cannot be read.
    """
    result = read_result(folder, folder.name, str(folder), with_rows=False)
    if not isinstance(result, Content) or result.kind is not Kind.PROGRAMS:
        raise ValueError(f"{folder}: no result of //mlgo:evaluate_programs")
    return result


def linked_code(result: Evaluation, corpus: str, side: str) -> Change:
    """Linked code bytes of a corpus in an evaluation."""
    return _change(result.side(corpus, side).linked)


def object_code(result: Evaluation, corpus: str, side: str) -> Change:
    """Code bytes of all functions of a corpus's objects, without an interval."""
    found = result.side(corpus, side)
    if found.object_bytes is None or found.default_object_bytes is None:
        raise ValueError(_MISSING)
    return Change(found.object_bytes / found.default_object_bytes)


def default_code(result: Evaluation, other: Evaluation, corpus: str) -> Change:
    """Linked code bytes of a corpus by the default of `result`, against those by the default of `other`.

    Raises: ValueError: the results measured other modules.
    """
    of_result, of_other = (each.corpus(corpus) for each in (result, other))
    if of_result.module_count != of_other.module_count:
        raise ValueError(f"{corpus}: the results measured {of_result.module_count} and {of_other.module_count} modules")
    code, other_code = of_result.default_linked_bytes, of_other.default_linked_bytes
    if code is None or other_code is None:
        raise ValueError(_MISSING)
    return Change(code / other_code)


def weighted_sum(result: Evaluation, corpus: str, side: str) -> Change:
    """The sum of the score over the functions of a corpus."""
    found = result.side(corpus, side).weighted
    return _change(found.summary if found else None)


def function_mean(result: Evaluation, corpus: str, side: str) -> Change:
    """The geometric mean of the score over the functions (for inlining: modules) of a corpus."""
    return _change(result.side(corpus, side).mean)


def group(changes: Mapping[str, Change]) -> Group:
    """Several libraries in the mean. The mean has no interval: few libraries are no sample."""
    return _group({name: change.ratio for name, change in changes.items()}, None)


def program_ratios(result: Content, table: str, side: str, measure: str) -> dict[str, float]:
    """Program -> ratio of `measure` to the default. Args: table: "size", "run" or "executed"."""
    return ratios_of(result.content[table], side, DEFAULT, measure)


def programs(result: Content, table: str, side: str, measure: str, unseen: Collection[str] = ()) -> Group:
    """All programs of a result in the mean, with the published interval.

    Args: unseen: only these, which are those that training did not see.

    Raises: ValueError: the published mean of the unseen programs is not that of `unseen`.
    """
    totals = result.content["totals"]
    total = (totals["unseen"] if unseen else totals)[table][side][measure]
    ratios = program_ratios(result, table, side, measure)
    found = _group(
        {name: ratios[name] for name in unseen} if unseen else ratios,
        Change(total["geometric_mean"], total["low"], total["high"]),
    )
    if not math.isclose(_geometric_mean([ratios[name] for name in unseen or ratios]), found.mean.ratio):
        raise ValueError(f"{side}, {measure}: the mean of {', '.join(unseen or ratios)} is not the published one")
    return found


def _group(ratios: Mapping[str, float], mean: Change | None) -> Group:
    ordered = sorted(ratios, key=lambda name: (ratios[name], name))
    worst = ordered[-1]
    without_best = _geometric_mean([ratios[name] for name in ordered[1:]]) if len(ordered) >= 3 else None
    found = mean or Change(_geometric_mean(list(ratios.values())))
    return Group(len(ratios), found, (worst, ratios[worst]), without_best)


def _geometric_mean(ratios: Collection[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def _change(summary: RatioSummary | None) -> Change:
    if summary is None:
        raise ValueError(_MISSING)
    return Change(summary.geometric_mean, summary.low, summary.high)
