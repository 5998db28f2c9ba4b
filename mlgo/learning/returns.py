"""Decisions of samples, and the return of each decision."""

import collections
import hashlib
import math
from collections.abc import Mapping, Sequence

import numpy as np

from mlgo.learning.divergence import Divergence, DivergenceError
from mlgo.learning.learner import Sample
from mlgo.learning.observations import Observations, concatenate
from mlgo.run.exit_codes import ExitCode, RunError


def centred(samples: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """Each sample's values less the mean of the other samples' values of the same name; without names that only one
    sample has.

    The difficulty of a function then cancels, and the rest tells its decisions apart (Kool et al., "Buy 4 REINFORCE
    samples, get a baseline for free!", 2019).
    """
    all_values: dict[str, list[float]] = collections.defaultdict(list)
    for sample in samples:
        for name, value in sample.items():
            all_values[name].append(value)
    sums = {name: (math.fsum(values), len(values) - 1) for name, values in all_values.items() if len(values) > 1}

    def less_others(name: str, value: float) -> float:
        total, others = sums[name]
        return value - (total - value) / others

    return [{name: less_others(name, value) for name, value in sample.items() if name in sums} for sample in samples]


def by_module(samples: Sequence[Sample]) -> dict[str, list[Sample]]:
    found: dict[str, list[Sample]] = {}
    for sample in samples:
        found.setdefault(sample.module, []).append(sample)
    return found


def nothing_learned(samples: Sequence[Sample], lacking: str, remedy: str = "modules that have decisions") -> RunError:
    """The error of an iteration whose samples have no `lacking`. Args: remedy: besides more modules."""
    return RunError(
        f"{len(samples)} compiles of an iteration",
        f"have no {lacking}",
        f"Use more modules in an iteration, or {remedy}",
        ExitCode.NOTHING_PRODUCED,
    )


def figures_of_returns(returns: np.ndarray) -> dict[str, float]:
    """For the metrics of an update: `judge` looks at the deviation."""
    mean, deviation = returns.mean(dtype=np.float64), returns.std(dtype=np.float64)
    return {"mean_return": float(mean), "return_deviation": float(deviation)}


class MovingAverage:
    """The moving average of the credits of each function of each module; at first 0, the default.

    Source: ml-compiler-opt, compiler_opt/rl/compilation_runner.py (moving_average_reward; there of the score, here of
    the credit). Args: decay: weight of the old average, in [0, 1); state: what `state` returned.
    """

    def __init__(self, decay: float, state: Mapping[str, np.ndarray] | None = None):
        self._decay = decay
        self._averages: dict[int, float] = {}
        if state:
            self._averages |= zip(state["names"].tolist(), state["averages"].tolist(), strict=True)

    def state(self) -> dict[str, np.ndarray]:
        """names uint64 [F], digests of (module, function), ascending; averages float64 [F]."""
        names = sorted(self._averages)
        averages = [self._averages[name] for name in names]
        return {"names": np.array(names, np.uint64), "averages": np.array(averages, np.float64)}

    def subtract_baseline(self, module: str, samples: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
        """Each sample's values less the averages before these samples; afterwards the averages include them."""
        keys = {name: _key(module, name) for sample in samples for name in sample}
        before = {name: self._averages.get(key, 0.0) for name, key in keys.items()}
        for sample in samples:
            for name, value in sample.items():
                old = self._averages.get(keys[name], 0.0)
                self._averages[keys[name]] = self._decay * old + (1 - self._decay) * value
        return [{name: value - before[name] for name, value in sample.items()} for sample in samples]


def _key(module: str, name: str) -> int:
    text = f"{module}\0{name}".encode("utf-8", "surrogateescape")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def returns_of(
    samples: Sequence[Sample], leave_one_out: bool, baseline: MovingAverage | None = None
) -> tuple[Observations, np.ndarray]:
    """All decisions of `samples` that have a return, in order by module, and these returns, float32 [N].

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
    observations, returns = [], []
    for module, of_module in by_module(samples).items():
        values: list[dict[str, float]] = [dict(sample.credits) for sample in of_module]
        if baseline is not None:
            values = baseline.subtract_baseline(module, values)
        elif leave_one_out:
            values = centred(values)
        for sample, of_context in zip(of_module, values, strict=True):
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
        raise nothing_learned(samples, "decision with a score that could be learned from")
    return concatenate(observations), np.concatenate(returns)


def fitness_of(samples: Sequence[Sample], candidates: int, regression_penalty: float) -> tuple[np.ndarray, int]:
    """(float64 [candidates], number of modules): each candidate's weighted mean improvement over the modules that have
    a sample of every candidate. Raises: RunError: there is no such module.
    """
    modules = by_module(samples)
    complete = [sorted(each, key=lambda sample: sample.variant) for each in modules.values() if len(each) == candidates]
    if not complete:
        wrong = f"none of {len(modules)} modules was scored under all of them"
        remedy = "Use more modules in an iteration, or look why compiles fail"
        raise RunError(f"a generation of {candidates} candidates", wrong, remedy, ExitCode.NOTHING_PRODUCED)
    improvements = np.array([[sample.improvement for sample in each] for each in complete])
    weights = np.array([[sample.weight for sample in each] for each in complete])
    improvements = np.where(improvements < 0, (1 + regression_penalty) * improvements, improvements)
    return (improvements * weights).sum(axis=0) / weights.sum(axis=0), len(complete)
