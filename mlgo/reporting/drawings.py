"""The drawings of a report, from figures to positions. Changes are in percent of the default; negative is better."""

import bisect
import math
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.evaluation.statistics import RatioSummary
from mlgo.reporting.page import (
    Band,
    Bar,
    Cell,
    Change,
    Forest,
    ForestRow,
    Histogram,
    Lines,
    Mark,
    RankedBar,
    Ranking,
    Series,
    Tone,
)
from mlgo.reporting.scale import Scale, number

#: Upper ends of the bins of a distribution, percent; larger changes are in the last bin. Half a percent is one
#: instruction in a function of 200.
_BINS = (-20.0, -10.0, -5.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)

#: Quantiles of the training rewards that an iteration records, outermost first.
_QUANTILES = (("p05", "p95", "outer"), ("p25", "p75", "inner"))


def percent(value: float, digits: int = 2) -> str:
    """ "−1.40 %"."""
    return f"{number(value, digits, signed=True)}\N{NARROW NO-BREAK SPACE}%"


def interval(change: Change, digits: int = 2) -> str:
    """ "−2.10 … −0.70"."""
    return f"{number(change.low, digits, signed=True)} … {number(change.high, digits, signed=True)}"


def figures(change: Change) -> str:
    """ "−1.40 % (−2.10 … −0.70)"."""
    return f"{percent(change.percent)} ({interval(change)})"


def figures_of(ratio: float, low: float, high: float) -> str:
    """ "−1.40 %, −2.10 … −0.70" for ratios; "−1.40 %" where the interval has no width."""
    change = Change.of_ratios(ratio, low, high)
    return percent(change.percent) if low == high else f"{percent(change.percent)}, {interval(change)}"


def change_cells(summary: RatioSummary | None) -> list[Cell]:
    """Two cells of a table: the change and its interval; empty without a summary."""
    if summary is None:
        return [Cell("", number=True)] * 2
    change = Change.of(summary)
    return [Cell(percent(change.percent), change.tone, True), Cell(interval(change), number=True)]


def counts_note(summary: RatioSummary) -> str:
    """ "3 better, 2 worse, 1 equal"."""
    return f"{summary.better} better, {summary.worse} worse, {summary.equal} equal"


def forest(caption: str, rows: Sequence[tuple[str, str, str, Change, bool]]) -> Forest:
    """Intervals on one scale that contains 0.

    Args: rows: (group, label, note, change, whether the row is emphasised).
    """
    scale = Scale.around(
        [0.0, *(value for *_, change, _ in rows for value in (change.low, change.high, change.percent))], 4
    )
    drawn, last = [], None
    for group, label, note, change, emphasised in rows:
        positions = (scale.at(change.low), scale.at(change.high), scale.at(change.percent))
        drawn.append(ForestRow("" if group == last else group, label, note, change, *positions, emphasised))
        last = group
    return Forest(caption, tuple(drawn), tuple(scale.ticks(signed=True, suffix=" %")), scale.at(0.0))


def validation_curve(validations: Sequence[Mapping[str, Any]], chosen: int | None) -> Lines:
    """The validation score over iterations with its interval.

    Args: validations: at least one; chosen: the iteration whose weights the policy has.
    """
    changes = {
        v["iteration"]: Change(*(100.0 * (v[name] - 1.0) for name in ("geometric_mean", "low", "high")))
        for v in validations
    }
    across = _iterations(changes)
    up = Scale.around([0.0, *(value for change in changes.values() for value in (change.low, change.high))])
    upper = [(across.at(step), up.from_top(change.high)) for step, change in changes.items()]
    lower = [(across.at(step), up.from_top(change.low)) for step, change in changes.items()]
    middle = [(across.at(step), up.from_top(change.percent)) for step, change in changes.items()]
    titles = [f"iteration {step}: {figures(change)}" for step, change in changes.items()]
    best, last = min(changes.items(), key=lambda entry: entry[1].percent), list(changes.items())[-1]
    first = percent(next(iter(changes.values())).percent)
    described = (
        f"Validation score against the default: the lowest of {len(changes)} validations is {percent(best[1].percent)}"
        f" at iteration {best[0]}; the first is {first}, the last {percent(last[1].percent)}."
    )
    star = None
    if chosen in changes:
        described += f" Iteration {chosen} was chosen."
        star = (across.at(chosen), up.from_top(changes[chosen].percent))
    modules = validations[-1].get("modules", 0)
    caption = f"Score of the greedy policy on {modules} validation modules, change against the default in percent."
    return Lines(
        caption,
        described,
        tuple(across.ticks()),
        tuple(up.ticks(signed=True, suffix=" %")),
        up.from_top(0.0),
        (Band("95 % interval", (*upper, *reversed(lower)), "interval"),),
        (Series("validation, geometric mean", tuple(middle), tuple(titles), "main"),),
        star,
    )


def reward_curve(iterations: Sequence[Mapping[str, Any]]) -> Lines | None:
    """The distribution of the training scores by iteration; None: no iteration recorded it."""
    known = [record for record in iterations if isinstance(record.get("reward"), Mapping)]
    known = [record for record in known if all(name in record["reward"] for pair in _QUANTILES for name in pair[:2])]
    if not known:
        return None

    def change(record: Mapping[str, Any], name: str) -> float:
        # A reward is minus the logarithm of a score's ratio, about: see figures.learning_curve.
        return 100.0 * math.expm1(-record["reward"][name])

    across = _iterations([record["iteration"] for record in known])
    up = Scale.around([0.0, *(change(record, name) for record in known for name in ("p05", "p95", "mean"))])
    bands = []
    for low, high, style in _QUANTILES:
        edges = [[(across.at(r["iteration"]), up.from_top(change(r, name))) for r in known] for name in (low, high)]
        bands.append(
            Band(
                {"outer": "5 to 95 of 100 compiles", "inner": "25 to 75 of 100"}[style],
                (*edges[0], *reversed(edges[1])),
                style,
            )
        )
    means = tuple((across.at(r["iteration"]), up.from_top(change(r, "mean"))) for r in known)
    first, last = change(known[0], "mean"), change(known[-1], "mean")
    described = (
        f"Training scores: mean {percent(first)} in the first iteration, {percent(last)} in the last of {len(known)}."
    )
    return Lines(
        "Scores of the training compiles, with exploration, by iteration, change against the default in percent.",
        described,
        tuple(across.ticks()),
        tuple(up.ticks(signed=True, suffix=" %")),
        up.from_top(0.0),
        tuple(bands),
        (Series("mean", means, (), "second"),),
    )


def anytime_curve(points: Sequence[tuple[int, float, float]]) -> Lines:
    """What a search had found after so many compiles. Args: points: (compiles, bytes, change), at least one."""
    across = _iterations([compiles for compiles, *_ in points])
    up = Scale.around([0.0, *(100.0 * change for *_, change in points)])
    drawn: list[tuple[float, float]] = []
    for compiles, _, change in points:
        # A step: what was found before holds until here.
        drawn += [(across.at(compiles), drawn[-1][1])] if drawn else []
        drawn.append((across.at(compiles), up.from_top(100.0 * change)))
    last, _, change = points[-1]
    described = f"Bytes against the default: {percent(100.0 * change)} after {last} compiles of each module."
    return Lines(
        "Bytes of all modules by compiles of each module, change against the default in percent.",
        described,
        tuple(across.ticks()),
        tuple(up.ticks(signed=True, suffix=" %")),
        up.from_top(0.0),
        (),
        (Series("bytes of all modules", tuple(drawn), (), "main"),),
    )


def cost_curve(points: Sequence[tuple[int, float, float]]) -> Lines:
    """What a search for evictions had found after so many tries.

    Args: points: (tries of each function, geometric mean of the ratios to the default, ratio of the sums of costs), at
      least one.
    """
    across = _iterations([tries for tries, *_ in points])
    up = Scale.around([0.0, *(100.0 * (ratio - 1.0) for _, *ratios in points for ratio in ratios)])
    series = []
    for label, style, ratios in (
        ("geometric mean over functions", "main", [mean for _, mean, _ in points]),
        ("sum of the costs", "second", [total for *_, total in points]),
    ):
        changes = [100.0 * (ratio - 1.0) for ratio in ratios]
        drawn = tuple(
            (across.at(tries), up.from_top(change)) for (tries, *_), change in zip(points, changes, strict=True)
        )
        titles = tuple(
            f"{label} after {tries} tries: {percent(change)}"
            for (tries, *_), change in zip(points, changes, strict=True)
        )
        series.append(Series(label, drawn, titles, style))
    last, mean, total = points[-1]
    described = (
        f"Cost against the default after {last} tries of each function: {percent(100.0 * (mean - 1.0))} in the"
        f" geometric mean, {percent(100.0 * (total - 1.0))} in the sum."
    )
    return Lines(
        "Cost by tries of each function, change against the default in percent.",
        described,
        tuple(across.ticks()),
        tuple(up.ticks(signed=True, suffix=" %")),
        up.from_top(0.0),
        (),
        tuple(series),
    )


def figure_curve(iterations: Sequence[Mapping[str, Any]], name: str, title: str) -> Lines | None:
    """A small chart of one figure by iteration; None: fewer than two iterations have it. Args: name: its key."""
    known = [
        (r["iteration"], float(r[name]))
        for r in iterations
        if isinstance(r.get(name), (int, float)) and math.isfinite(r[name])
    ]
    if len(known) < 2:
        return None
    across, up = _iterations([step for step, _ in known]), Scale.around([value for _, value in known], 3)
    points = tuple((across.at(step), up.from_top(value)) for step, value in known)
    described = f"{title}: {known[0][1]:.3g} in the first iteration, {known[-1][1]:.3g} in the last."
    zero = up.from_top(0.0) if up.low < 0.0 < up.high else None
    return Lines(
        title,
        described,
        tuple(across.ticks()),
        tuple(up.ticks()),
        zero,
        (),
        (Series(title, points, (), "second"),),
        small=True,
    )


def distribution(ratios: Sequence[float], unit: str, title: str) -> Histogram:
    """A histogram of changes. Args: ratios: at least one, all > 0; unit: "functions" or "modules"."""
    equal = sum(ratio == 1.0 for ratio in ratios)
    changes = [100.0 * (ratio - 1.0) for ratio in ratios if ratio != 1.0]
    counts = [0] * (len(_BINS) + 1)
    for change in changes:
        counts[bisect.bisect_left(_BINS, change)] += 1
    middle = len(_BINS) // 2 + 1  # Equal ratios have their own bar in the middle.
    labelled = [
        (_bin_name(index), count, Tone.BETTER if index < middle else Tone.WORSE) for index, count in enumerate(counts)
    ]
    labelled.insert(middle, ("equal to the default", equal, Tone.EQUAL))
    up, width = Scale.around([0.0, float(max(count for _, count, _ in labelled))], 4), 100.0 / len(labelled)
    bars = [
        Bar(round(index * width, 2), round(width, 2), up.at(float(count)), tone, f"{name}: {count} {unit}")
        for index, (name, count, tone) in enumerate(labelled)
    ]
    borders = [index + 1 + (index >= middle) for index in range(len(_BINS))]
    marks = [
        (borders[index], number(_BINS[index], 1 if abs(_BINS[index]) < 1 else 0, signed=True))
        for index in (0, 2, 4, 8, 10, 12)
    ]
    horizontal = [*(Mark(round(border * width, 2), text) for border, text in marks), Mark(50.0, "0")]
    better, worse = sum(ratio < 1.0 for ratio in ratios), sum(ratio > 1.0 for ratio in ratios)
    described = f"{title}: of {len(ratios)} {unit} {better} are better, {worse} worse and {equal} equal to the default."
    caption = f"{title}: {better} {unit} better, {worse} worse, {equal} equal"
    return Histogram(caption, described, tuple(bars), tuple(horizontal), tuple(up.ticks()))


def ranking(caption: str, entries: Sequence[tuple[str, float, float | None, float | None]], most: int) -> Ranking:
    """The `most` largest shares as bars, longest first. Args: entries: (label, share, low or None, high or None)."""
    shown = sorted(entries, key=lambda entry: (-entry[1], entry[0]))[:most]
    top = max(
        [value for _, *values in shown for value in values if value is not None and math.isfinite(value)], default=0.0
    )
    if top <= 0.0:
        top = 1.0

    def width(value: float | None) -> float | None:
        return None if value is None else round(100.0 * min(max(value / top, 0.0), 1.0), 2)

    bars = [
        RankedBar(label, share_text(share), width(share), width(low), width(high)) for label, share, low, high in shown
    ]
    return Ranking(caption, tuple(bars))


def share_text(share: float) -> str:
    """ "12.3 %" for 0.123."""
    return f"{number(100.0 * share, 1)}\N{NARROW NO-BREAK SPACE}%"


def _iterations(steps) -> Scale:
    """A scale of whole iterations from the first to the last."""
    steps = list(steps)
    first, last = min(steps), max(steps)
    wide = Scale.around([first, last], 4)
    return Scale(first, max(last, first + 1), max(1.0, wide.step))


def _bin_name(index: int) -> str:
    if index == 0:
        return f"more than {number(-_BINS[0], 0)} % better"
    if index == len(_BINS):
        return f"more than {number(_BINS[-1], 0)} % worse"
    low, high = (number(value, 1 if abs(value) < 1 else 0, signed=True) for value in _BINS[index - 1 : index + 1])
    return f"{low} to {high} %"
