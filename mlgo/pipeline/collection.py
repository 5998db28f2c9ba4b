"""Collects one iteration's decisions: modules compiled under the current policy, and what each decision returned."""

import contextlib
import dataclasses
import math
import pathlib
import typing
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from mlgo.compiler.request import CompileFailure
from mlgo.compiler.training_log import TrainingLog
from mlgo.corpus.corpus import Module
from mlgo.learning import determinism
from mlgo.learning.network import PolicyNetwork
from mlgo.learning.observations import Observations, concatenate, pack
from mlgo.learning.rewards import decision_returns, relative_improvement
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.trace.outcomes import FailureLimit, ModuleRecord
from mlgo.trace.scores import score_ratio, scores_of
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import compile_modules

if typing.TYPE_CHECKING:
    from mlgo.policy.collection import CollectionPolicy  # Brings TensorFlow, which pure functions here do without.


@dataclasses.dataclass(frozen=True)
class Collected:
    """What an iteration learns from.

    Attributes:
      observations: N decisions.
      returns: float32 [N].
      score_change_percent: geometric mean over functions of the score against the default's, minus one; below 0 is better.
      failed: kind of failure by "MODULE, sample K".
    """

    observations: Observations
    returns: np.ndarray
    score_change_percent: float
    failed: Mapping[str, str]


def collect(
    title: str,
    modules: Sequence[Module],
    samples: int,
    network: PolicyNetwork,
    models: "CollectionPolicy",
    default: Mapping[str, ModuleRecord],
    setup: CompileSetup,
    seed: int,
    iteration: int,
    lowest_return: float,
) -> Collected:
    """Compiles every module `samples` times under the exploring policy of `network`.

    Args:
      title: for messages.
      modules: what to compile.
      samples: see RunSettings.samples_per_module.
      network: the policy that decides.
      models: writes it for the compiler.
      default: module name -> what the compiler's default makes of it.
      setup: how to compile.
      seed, iteration: what is random depends on these, the module and the sample.
      lowest_return: improvements below this count as this.

    Raises: RunError: too many compiles failed, or none had a decision and a score.
    """
    turns = [(module, sample) for module in modules for sample in range(samples)]

    def written() -> Iterator[pathlib.Path]:
        for module, sample in turns:
            exploration = determinism.derive_seed(seed, "exploration", iteration, module.name, sample)
            yield models.write(network, f"{module.name} {sample}", exploration)

    failures = FailureLimit(title, len(turns), setup.max_failure_ratio)
    logs: dict[str, list[TrainingLog]] = {}
    observations: list[Observations] = []
    returns: list[np.ndarray] = []
    logarithms: list[float] = []
    outcomes = compile_modules([module for module, _ in turns], setup, written())
    with contextlib.closing(outcomes):
        for (module, sample), (_, outcome) in zip(turns, outcomes, strict=True):
            models.remove(f"{module.name} {sample}")
            if isinstance(outcome, CompileFailure):
                failures.add(f"{module.name}, sample {sample}", outcome.kind.value, outcome.detail)
            else:
                logs.setdefault(module.name, []).append(outcome.log)
            if sample == samples - 1:
                # All samples of this module are there: only one module's logs are in memory at a time.
                parts = logs.pop(module.name, [])
                scores = default[module.name].functions
                improvements = [_improvements(log, default[module.name], lowest_return) for log in parts]
                for log, values in zip(parts, centred(improvements) if samples > 1 else improvements, strict=True):
                    packed, kept = _learnable(log, values, network, setup)
                    if len(packed):
                        observations.append(packed)
                        returns.append(kept)
                    found = scores_of(log)
                    logarithms += [
                        math.log(score_ratio(setup.problem, scores[name].score, found[name].score))
                        for name in sorted(set(scores) & set(found))
                    ]
    if not observations:
        raise RunError(
            title,
            f"none of {len(turns)} compiles has a decision and a score to learn from",
            "Raise --modules_per_iteration",
            ExitCode.NOTHING_PRODUCED,
        )
    change = 100.0 * math.expm1(math.fsum(logarithms) / len(logarithms))
    return Collected(concatenate(observations), np.concatenate(returns), change, dict(failures.failed))


def centred(samples: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """Each sample's values less the mean of the other samples' values of the same name.

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


def _improvements(log: TrainingLog, default: ModuleRecord, lowest: float) -> dict[str, float]:
    """By function that has a score on both sides: how much better it became than under the default."""
    found = scores_of(log)
    names = sorted(set(found) & set(default.functions))
    values = relative_improvement(
        np.array([found[name].score for name in names]), np.array([default.functions[name].score for name in names])
    )
    return dict(zip(names, np.maximum(values, lowest).tolist(), strict=True))


def _learnable(
    log: TrainingLog, values: Mapping[str, float], network: PolicyNetwork, setup: CompileSetup
) -> tuple[Observations, np.ndarray]:
    """The observations of the functions in `values`, and their returns."""
    by_context = np.array([values.get(name, np.nan) for name in log.contexts], np.float32)
    every = decision_returns(by_context, log.observation_context)
    kept = np.flatnonzero(np.isfinite(every))
    packed = pack(
        {feature: array[kept] for feature, array in log.features.items()},
        log.actions[kept],
        network.normalizer,
        setup.problem,
        log.observation_context[kept],
    )
    return packed, every[kept]
