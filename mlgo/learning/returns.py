"""Decisions of samples, and the return of each decision."""

import hashlib
import math
from collections.abc import Mapping, Sequence

import numpy as np

from mlgo.learning.divergence import Divergence, DivergenceError
from mlgo.learning.learner import Sample
from mlgo.learning.observations import Observations, concatenate
from mlgo.run.exit_codes import ExitCode, RunError


def centred(samples: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """Each sample's values less the mean of the other samples' values of the same name.

    The difficulty of a function then cancels, and the rest tells its decisions apart (Kool et al., "Buy 4 REINFORCE
    samples, get a baseline for free!", 2019).

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


class MovingAverage:
    """The moving average of the credits of each function of each module; at first 0, the default.

    Source: ml-compiler-opt, compiler_opt/rl/compilation_runner.py (moving_average_reward; there of the score, here of
    the credit). Args: decay: weight of the old average, in [0, 1); state: what `state` returned.
    """

    def __init__(self, decay: float, state: Mapping[str, np.ndarray] | None = None):
        self._decay = decay
        names, averages = (state["names"].tolist(), state["averages"].tolist()) if state else ([], [])
        self._averages: dict[int, float] = dict(zip(names, averages, strict=True))

    def state(self) -> dict[str, np.ndarray]:
        """names uint64 [F], digests of (module, function), ascending; averages float64 [F]."""
        names = sorted(self._averages)
        return {
            "names": np.array(names, np.uint64),
            "averages": np.array([self._averages[name] for name in names], np.float64),
        }

    def subtract_baseline(self, module: str, samples: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
        """Each sample's values less the averages before these samples; afterwards the averages include them."""
        keys = {name: _key(module, name) for sample in samples for name in sample}
        before = {name: self._averages.get(key, 0.0) for name, key in keys.items()}
        for sample in samples:
            for name, value in sample.items():
                self._averages[keys[name]] = (
                    self._decay * self._averages.get(keys[name], 0.0) + (1 - self._decay) * value
                )
        return [{name: value - before[name] for name, value in sample.items()} for sample in samples]


def _key(module: str, name: str) -> int:
    return int.from_bytes(
        hashlib.blake2b(f"{module}\0{name}".encode("utf-8", "surrogateescape"), digest_size=8).digest(), "little"
    )


def returns_of(
    samples: Sequence[Sample], leave_one_out: bool, baseline: MovingAverage | None = None
) -> tuple[Observations, np.ndarray]:
    """All decisions of `samples` that have a return, in order, and these returns, float32 [N].

    Args:
      leave_one_out: a return is the credit less that of the other samples of the module, without functions that occur
        in one sample only. Otherwise it is the credit itself.
      baseline: a return is the credit less this moving average; takes precedence over `leave_one_out`.

    Raises:
      DivergenceError: a credit is not finite.
      RunError: no decision is left.
    """
    for sample in samples:
        for name, value in sample.credits.items():
            if not math.isfinite(value):
                raise DivergenceError(
                    Divergence.NOT_FINITE,
                    f"{sample.module}, sample {sample.variant}",
                    f"the credit of {name!r} is {value}: returns hold NaN or infinity",
                    "Check the scores in the training logs",
                )
    values = [dict(sample.credits) for sample in samples]
    if leave_one_out or baseline is not None:
        of_module: dict[str, list[int]] = {}
        for index, sample in enumerate(samples):
            of_module.setdefault(sample.module, []).append(index)
        for module, indices in of_module.items():
            together = [values[index] for index in indices]
            compared = centred(together) if baseline is None else baseline.subtract_baseline(module, together)
            for index, each in zip(indices, compared, strict=True):
                values[index] = each
    observations, returns = [], []
    for sample, of_context in zip(samples, values, strict=True):
        if sample.observations is None:
            continue
        by_context = np.array([of_context.get(name, np.nan) for name in sample.contexts], np.float32)
        by_decision = by_context[sample.observations.group]
        kept = np.flatnonzero(~np.isnan(by_decision))
        if len(kept):
            all_kept = len(kept) == len(by_decision)
            observations.append(sample.observations if all_kept else sample.observations.select(kept))
            returns.append(by_decision[kept])
    if not observations:
        raise RunError(
            f"{len(samples)} compiles of an iteration",
            "have no decision with a score that could be learned from",
            "Use more modules in an iteration, or modules that have decisions",
            ExitCode.NOTHING_PRODUCED,
        )
    return concatenate(observations), np.concatenate(returns)


def fitness_of(samples: Sequence[Sample], candidates: int, regression_penalty: float) -> tuple[np.ndarray, int]:
    """(float64 [candidates], number of modules): each candidate's weighted mean improvement over the modules that have
    a sample of every candidate. Raises: RunError: there is no such module.
    """
    by_module: dict[str, dict[int, Sample]] = {}
    for sample in samples:
        by_module.setdefault(sample.module, {})[sample.variant] = sample
    complete = [by_variant for by_variant in by_module.values() if len(by_variant) == candidates]
    if not complete:
        raise RunError(
            f"a generation of {candidates} candidates",
            f"none of {len(by_module)} modules was scored under all of them",
            "Use more modules in an iteration, or look why compiles fail",
            ExitCode.NOTHING_PRODUCED,
        )
    improvements = np.array([[each[index].improvement for index in range(candidates)] for each in complete])
    weights = np.array([[each[index].weight for index in range(candidates)] for each in complete])
    improvements = np.where(improvements < 0, (1 + regression_penalty) * improvements, improvements)
    return (improvements * weights).sum(axis=0) / weights.sum(axis=0), len(complete)
