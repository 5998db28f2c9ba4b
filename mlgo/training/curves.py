"""The learning curves of a run as charts. Records are those of figures.read_records, or of metrics.jsonl."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.pages.change import Change
from mlgo.pages.charts import Band, Lines, Points, Series
from mlgo.pages.numbers import percent

Records = Sequence[Mapping[str, Any]]

#: Quantiles of the training rewards that an iteration records, outermost first: keys, label, style.
_QUANTILES = (("p05", "p95", "5 to 95 of 100 compiles", "outer"), ("p25", "p75", "25 to 75 of 100", "inner"))


def learning_curve(iterations: Records, validations: Records, chosen: int) -> Lines:
    """The validation score with the mean of the training scores; `chosen` is the iteration that was shipped."""
    curve = validation_curve(validations, chosen)
    means = Series("while exploring (training modules)", _rewards(iterations, "mean"), "second")
    best = f"Chosen: iteration {chosen}, the best of {len(validations)} (optimistic)."
    caption = f"Change of the score in percent, by iteration; lower is better. {best}"
    return dataclasses.replace(curve, caption=caption, series=([means] if iterations else []) + [*curve.series])


def validation_curve(validations: Records, chosen: int | None) -> Lines:
    """The validation score over iterations with its interval. Args: chosen: the iteration of the policy."""
    changes = {
        each["iteration"]: Change.of_ratios(each["geometric_mean"], each["low"], each["high"]) for each in validations
    }
    best = min(changes, key=lambda step: changes[step].percent)
    first, *_, last = [*changes.values()] * 2
    described = (
        f"Validation score against the default: the lowest of {len(changes)} validations is"
        f" {changes[best].percent_text} at iteration {best}; the first is {first.percent_text}, the last"
        f" {last.percent_text}."
    )
    modules = validations[-1].get("modules", 0)
    middle, lower, upper = (
        [(step, getattr(change, name)) for step, change in changes.items()] for name in ("percent", "low", "high")
    )
    titles = [f"iteration {step}: {change.figures}" for step, change in changes.items()]
    return Lines(
        f"Score of the greedy policy on {modules} validation modules, change against the default in percent.",
        described + (f" Iteration {chosen} was chosen." if chosen in changes else ""),
        [Series("validation, geometric mean", middle, "main", titles)],
        [Band("95 % interval", lower, upper, "interval")],
        (chosen, changes[chosen].percent) if chosen is not None and chosen in changes else None,
    )


def reward_curve(iterations: Records) -> Lines | None:
    """The distribution of the training scores by iteration; None: no iteration recorded it."""
    wanted = {"mean", *(name for low, high, *_ in _QUANTILES for name in (low, high))}
    known = [each for each in iterations if isinstance(each.get("reward"), Mapping) and wanted <= each["reward"].keys()]
    if not known:
        return None
    means = _rewards(known, "mean")
    return Lines(
        "Scores of the training compiles, with exploration, by iteration, change against the default in percent.",
        f"Training scores: mean {percent(means[0][1])} in the first iteration, {percent(means[-1][1])} in the last of"
        f" {len(known)}.",
        [Series("mean", means, "second")],
        [Band(label, _rewards(known, low), _rewards(known, high), style) for low, high, label, style in _QUANTILES],
    )


def figure_curve(iterations: Records, name: str, title: str) -> Lines | None:
    """A small chart of one figure by iteration; None: fewer than two iterations have it. Args: name: its key."""
    known = [
        (each["iteration"], float(each[name]))
        for each in iterations
        if isinstance(each.get(name), (int, float)) and math.isfinite(each[name])
    ]
    if len(known) < 2:
        return None
    described = f"{title}: {known[0][1]:.3g} in the first iteration, {known[-1][1]:.3g} in the last."
    return Lines(title, described, [Series(title, known, "second")], small=True, percent=False)


def _rewards(iterations: Records, name: str) -> Points:
    """A figure of the rewards as a change in percent: a reward is minus the logarithm of a score's ratio, about."""
    return [(each["iteration"], 100.0 * math.expm1(-each["reward"][name])) for each in iterations]
