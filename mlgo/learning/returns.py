"""From samples to what is learned from: decisions, and what each of them returned."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from mlgo.learning.divergence import Divergence, DivergenceError
from mlgo.learning.learner import Sample
from mlgo.learning.observations import Observations, concatenate
from mlgo.learning.rewards import decision_returns
from mlgo.run.exit_codes import ExitCode, RunError


def centred(samples: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """Each sample's values less the mean of the other samples' values of the same name.

    What is easy or hard about a function then cancels, and what is left tells its decisions apart (Kool et al., "Buy 4
    REINFORCE samples, get a baseline for free!", 2019).

    Args: samples: name -> value; a name may be missing from some.
    Returns: as many mappings; a name that only one sample has is left out.
    """
    totals: dict[str, list[float]] = {}
    for sample in samples:
        for name, value in sample.items():
            totals.setdefault(name, []).append(value)
    result = []
    for sample in samples:
        values = {}
        for name, value in sample.items():
            others = len(totals[name]) - 1
            if others:
                values[name] = value - (math.fsum(totals[name]) - value) / others
        result.append(values)
    return result


def returns_of(samples: Sequence[Sample], lowest: float, centre: bool) -> tuple[Observations, np.ndarray]:
    """All decisions of `samples` that have a return, in their order, and these returns, float32 [N].

    Args:
      lowest: improvements below this count as this.
      centre: a return is how much better a function became than in the other samples of its module; functions that only
        one sample has are left out. Otherwise it is the improvement over the default.

    Raises:
      DivergenceError: an improvement is not finite.
      RunError: no decision is left.
    """
    for sample in samples:
        for name, value in sample.improvements.items():
            if not math.isfinite(value):
                raise DivergenceError(
                    Divergence.NOT_FINITE,
                    f"{sample.module}, sample {sample.variant}",
                    f"the improvement of {name!r} is {value}: returns hold NaN or infinity",
                    "Check the scores in the training logs",
                )
    values = [{name: max(value, lowest) for name, value in sample.improvements.items()} for sample in samples]
    if centre:
        of_module: dict[str, list[int]] = {}
        for index, sample in enumerate(samples):
            of_module.setdefault(sample.module, []).append(index)
        for indices in of_module.values():
            for index, each in zip(indices, centred([values[index] for index in indices]), strict=True):
                values[index] = each
    observations, returns = [], []
    for sample, of_context in zip(samples, values, strict=True):
        if sample.observations is None:
            continue
        by_context = np.array([of_context.get(name, np.nan) for name in sample.contexts], np.float32)
        every = decision_returns(by_context, sample.observations.group)
        kept = np.flatnonzero(~np.isnan(every))
        if len(kept):
            whole = len(kept) == len(every)
            observations.append(sample.observations if whole else sample.observations.select(kept))
            returns.append(every[kept])
    if not observations:
        raise RunError(
            f"{len(samples)} compiles of an iteration",
            "have no decision with a score that could be learned from",
            "Use more modules in an iteration, or modules that have decisions",
            ExitCode.NOTHING_PRODUCED,
        )
    return concatenate(observations), np.concatenate(returns)
