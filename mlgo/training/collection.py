"""Collects what an iteration learns from: every chosen module, compiled once under every variant of the policy."""

import collections
import contextlib
import dataclasses
import itertools
import pathlib
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from mlgo.compiler.request import CompileFailure, CompileResult
from mlgo.compiler.training_log import TrainingLog
from mlgo.corpus.corpus import Module
from mlgo.learning.learner import Sample, Variant
from mlgo.learning.network import AnyPolicy
from mlgo.learning.normalization import Normalizer
from mlgo.learning.observations import pack
from mlgo.problems.problem import Problem
from mlgo.run import determinism
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.score.problem_score import score_of
from mlgo.score.score import FunctionScores, failed_improvement
from mlgo.trace.outcomes import FailureLimit, ModuleRecord
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import compile_modules

CompileOutcome = CompileResult | CompileFailure

#: Quantiles of the improvements that an iteration's record holds, by name.
_QUANTILES = {"lowest": 0.0, "p05": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95, "highest": 1.0}


@dataclasses.dataclass
class Seconds:
    """Time of the parts of an iteration; two equal runs differ in it."""

    #: clang, own: CPU seconds of all compilers, and of this process.
    clang: float = 0.0
    own: float = 0.0
    waiting: float = 0.0
    preparing: float = 0.0  #: reading logs and packing decisions for the learner.
    learning: float = 0.0
    total: float = 0.0  #: wall clock of the iteration, validation included.


@dataclasses.dataclass(frozen=True)
class CompileJob:
    """One compile of an iteration; `index` is that of `variant` among the variants of the iteration."""

    module: Module
    variant: Variant
    index: int

    @property
    def name(self) -> str:
        return f"{self.module.name} {self.index}"


def jobs_of(modules: Sequence[Module], variants: Sequence[Variant]) -> list[CompileJob]:
    """The compiles of `modules` in their order: by module, then by variant."""
    return [CompileJob(module, variant, index) for module in modules for index, variant in enumerate(variants)]


class ModelWriter(Protocol):
    """What this module needs of CollectionPolicy (mlgo/policy/collection.py), which imports TensorFlow."""

    def write(self, network: AnyPolicy, name: str, exploration_seed: int | None) -> pathlib.Path: ...
    def remove(self, name: str) -> None: ...
    def forget_networks(self) -> None: ...


def compile_jobs(
    jobs: Sequence[CompileJob],
    setup: CompileSetup,
    models: ModelWriter,
    seed: int,
    iteration: int,
    wants_log: Sequence[bool],
) -> Generator[CompileOutcome, None, None]:
    """Compiles `jobs`, as far as it is asked for; yields the outcomes in their order.

    Greedy variants with one network share one model; an exploring one has a model and a seed per compile, which follows
    from `seed` and `iteration`. Models are written as they are needed. Args: wants_log: of each job.
    """
    greedy: dict[int, pathlib.Path] = {}

    def written(job: CompileJob) -> pathlib.Path:
        network = job.variant.network
        if job.variant.exploring:
            drawn = determinism.derive_seed(seed, "exploration", iteration, job.module.name, job.index)
            return models.write(network, job.name, drawn)
        if id(network) not in greedy:
            greedy[id(network)] = models.write(network, f"greedy {len(greedy)}", None)
        return greedy[id(network)]

    try:
        compiled = compile_modules([job.module for job in jobs], setup, map(written, jobs), wants_log)
        with contextlib.closing(compiled):
            for job, (_, outcome) in zip(jobs, compiled, strict=True):
                if job.variant.exploring:
                    models.remove(job.name)
                yield outcome
    finally:
        for index in range(len(greedy)):
            models.remove(f"greedy {index}")
        models.forget_networks()


class Scoring:
    """How compiles of a corpus are scored.

    Args: default: module name -> its record under the compiler's default, of the whole corpus; reward: as RunSettings'.
    """

    def __init__(self, problem: Problem, default: Mapping[str, ModuleRecord], reward: str):
        self._problem, self._score = problem, score_of(problem)
        self._default = {name: record.functions for name, record in default.items()}
        self._corpus_score = self._score.for_corpus(self._default, reward)

    def improvement(self, module: str, outcome: CompileOutcome) -> tuple[float, float] | None:
        """As CorpusScore.module_improvement; a failed compile counts as the worst."""
        default = self._default[module]
        if isinstance(outcome, CompileFailure):
            return failed_improvement(self._corpus_score, module, default)
        return self._corpus_score.module_improvement(module, self._score.read(outcome), default)

    def samples(
        self, module: str, results: Sequence[tuple[int, CompileResult]], normalizer: Normalizer | None
    ) -> list[Sample]:
        """What the learner is told of the compiles of `module`; those without a score on one of the sides are left out.
        Args: normalizer: of the packed decisions; None: samples without decisions.
        """
        default = self._default[module]
        samples: list[Sample] = []
        decided: list[tuple[int, TrainingLog, FunctionScores]] = []
        for variant, result in results:
            functions = self._score.read(result)
            if (found := self._corpus_score.module_improvement(module, functions, default)) is None:
                continue
            if normalizer is not None and result.log is not None and result.log.observation_count > 0:
                decided.append((len(samples), result.log, functions))
            samples.append(Sample(module, variant, *found))
        if normalizer is None:
            return samples
        scores, logs = [scores for *_, scores in decided], [log for _, log, _ in decided]
        credited = self._corpus_score.credits_of(module, scores, default, logs)
        for (index, log, _), (contexts, credits) in zip(decided, credited, strict=True):
            packed = pack(log.features, log.actions, normalizer, self._problem, log.observation_context)
            samples[index] = dataclasses.replace(
                samples[index], observations=packed, contexts=contexts, credits=credits
            )
        return samples

    def with_failed(self, samples: Sequence[Sample], failed: Sequence[int]) -> list[Sample]:
        """The samples of one module and of those of its compiles that failed, by variant.

        A failed compile counts as the worst: its module as `failed_improvement` says; each of its functions as the
        worst function of the module's other compiles, and never as better than the default. Its decisions are not
        known, so they cannot be blamed. But algorithms that compare the compiles of a module then prefer the decisions
        of all others, and failing never pays. Args: failed: variants.
        """
        if not samples or not failed:
            return list(samples)
        module = samples[0].module
        worst = min([0.0, *(value for sample in samples for value in sample.credits.values())])
        credited = {name: worst for sample in samples for name in sample.credits}
        counted = failed_improvement(self._corpus_score, module, self._default[module])
        lost = [] if counted is None else [Sample(module, v, *counted, credits=credited, failed=True) for v in failed]
        return sorted([*samples, *lost], key=lambda sample: sample.variant)


def collect(
    title: str,
    jobs: Sequence[CompileJob],
    outcomes: Iterator[CompileOutcome],
    scoring: Scoring,
    normalizer: Normalizer | None,
    max_failure_ratio: float,
    seconds: Seconds,
) -> tuple[list[Sample], dict[str, str]]:
    """Takes the outcomes of `jobs` and makes samples of them while others compile.

    Args: normalizer: of the packed decisions; None: samples without decisions; seconds: gets the time of each part.
    Returns: the samples, in the order of the jobs, see `Scoring.with_failed`; and the kind of failure by "MODULE,
      sample K".
    Raises: RunError: too many compiles failed, or no module has a score on both sides.
    """
    failures = FailureLimit(title, len(jobs), max_failure_ratio)
    samples: list[Sample] = []
    begin = time.monotonic()
    for module, of_module in itertools.groupby(jobs, key=lambda job: job.module):
        results: list[tuple[int, CompileResult]] = []
        failed: list[int] = []
        for job in of_module:
            outcome = next(outcomes)
            arrived = time.monotonic()
            seconds.waiting += arrived - begin
            if isinstance(outcome, CompileFailure):
                failures.add(f"{module.name}, sample {job.index}", outcome.kind.value, outcome.detail)
                failed.append(job.index)
            else:
                seconds.clang += outcome.cpu_seconds
                results.append((job.index, outcome))
            begin = arrived
        samples += scoring.with_failed(scoring.samples(module.name, results, normalizer), failed)
        prepared, begin = begin, time.monotonic()
        seconds.preparing += begin - prepared
    if not samples:
        wrong = f"none of {len(jobs)} compiles has a score that could be compared with the default's"
        raise RunError(title, wrong, "Raise --modules_per_iteration", ExitCode.NOTHING_PRODUCED)
    return samples, dict(failures.failed)


def improvement_distribution(samples: Sequence[Sample]) -> dict[str, float]:
    """Weighted mean and quantiles of the improvements over the default of an iteration's compiles that succeeded."""
    samples = [sample for sample in samples if not sample.failed]
    values = np.array([sample.improvement for sample in samples], np.float64)
    weights = np.array([sample.weight for sample in samples], np.float64)
    quantiles = np.quantile(values, list(_QUANTILES.values())).tolist()
    return {"mean": float(np.average(values, weights=weights)), **dict(zip(_QUANTILES, quantiles, strict=True))}


def failures_by_kind(failed: Mapping[str, str]) -> dict[str, int]:
    return dict(sorted(collections.Counter(failed.values()).items()))
