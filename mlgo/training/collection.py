"""Collects what an iteration learns from: every chosen module compiled once under every variant of the learner's
policy.
"""

import collections
import dataclasses
import itertools
import pathlib
import time
import typing
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from mlgo.compiler.request import CompileFailure, CompileResult
from mlgo.corpus.corpus import Module
from mlgo.learning.learner import Sample, Variant
from mlgo.learning.normalization import Normalizer
from mlgo.learning.observations import pack
from mlgo.problems.problem import Problem
from mlgo.run import determinism
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.score.problem_score import score_of
from mlgo.score.score import CorpusScore, failed_improvement
from mlgo.trace.outcomes import FailureLimit, ModuleRecord

if typing.TYPE_CHECKING:
    from mlgo.policy.collection import CollectionPolicy  # Brings TensorFlow, which pure functions here do without.

#: Quantiles of the improvements that an iteration's record holds, by name.
_QUANTILES = {"lowest": 0.0, "p05": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95, "highest": 1.0}


@dataclasses.dataclass
class Seconds:
    """Time of the parts of an iteration; two equal runs differ in it.

    Attributes:
      clang: CPU seconds of all compilers.
      own: CPU seconds of this process.
      waiting: waiting for compilers.
      preparing: reading their logs and packing decisions for the learner.
      learning: the learner's update.
      total: wall clock of the iteration, validation included.
    """

    clang: float = 0.0
    own: float = 0.0
    waiting: float = 0.0
    preparing: float = 0.0
    learning: float = 0.0
    total: float = 0.0

    def rounded(self) -> dict[str, float]:
        """By name, in milliseconds' precision."""
        return {name: round(value, 3) for name, value in dataclasses.asdict(self).items()}


@dataclasses.dataclass(frozen=True)
class CompileJob:
    """One compile of an iteration: `variant` is an index into the variants."""

    module: Module
    variant: int

    @property
    def name(self) -> str:
        """For messages and folders."""
        return f"{self.module.name} {self.variant}"


def jobs_of(modules: Sequence[Module], variants: Sequence[Variant]) -> list[CompileJob]:
    """The iteration's compiles in their order: by module, then by variant."""
    return [CompileJob(module, index) for module in modules for index in range(len(variants))]


class VariantModels:
    """Writes the policies of an iteration for the compiler, as they are asked for.

    A greedy variant has one model for all modules, an exploring one a model per compile, with a separate seed.
    """

    def __init__(self, models: "CollectionPolicy", variants: Sequence[Variant], seed: int, iteration: int):
        self._models, self._variants = models, variants
        self._seed, self._iteration = seed, iteration
        self._greedy: dict[int, pathlib.Path] = {}

    def write(self, job: CompileJob) -> pathlib.Path:
        """The model for `job`."""
        variant = self._variants[job.variant]
        if variant.exploring:
            seed = determinism.derive_seed(self._seed, "exploration", self._iteration, job.module.name, job.variant)
            return self._models.write(variant.network, job.name, seed)
        # Variants often share one network.
        key = id(variant.network)
        if key not in self._greedy:
            self._greedy[key] = self._models.write(variant.network, f"greedy {len(self._greedy)}", None)
        return self._greedy[key]

    def remove(self, job: CompileJob) -> None:
        """`job` was compiled."""
        if self._variants[job.variant].exploring:
            self._models.remove(job.name)

    def close(self) -> None:
        """All jobs were compiled."""
        for index in range(len(self._greedy)):
            self._models.remove(f"greedy {index}")
        self._models.forget_networks()


def collect(
    title: str,
    jobs: Sequence[CompileJob],
    outcomes: Iterator[tuple[Module, CompileResult | CompileFailure]],
    models: VariantModels,
    default: Mapping[str, ModuleRecord],
    problem: Problem,
    corpus_score: CorpusScore,
    normalizer: Normalizer | None,
    max_failure_ratio: float,
    seconds: Seconds,
) -> tuple[list[Sample], dict[str, str]]:
    """Takes the outcomes of `jobs` from `outcomes` and makes samples of them while others compile.

    Args:
      title: for messages.
      jobs: the compiles, in order.
      outcomes: those of the jobs; others may follow.
      models: the model of a job is removed when the job is done.
      default: module name -> its record under the compiler's default.
      problem: the problem of the decisions.
      corpus_score: computes improvements.
      normalizer: normaliser of the packed decisions; None: samples without decisions.
      max_failure_ratio: fraction of the jobs that may fail.
      seconds: the time of each part is added to it.

    Returns: the samples, in the order of the jobs, see `with_failed`; and the kind of failure by "MODULE, sample K".
    Raises: RunError: too many compiles failed, or no module has a score on both sides.
    """
    failures = FailureLimit(title, len(jobs), max_failure_ratio)
    samples: list[Sample] = []
    begin = time.monotonic()
    for module, of_module in itertools.groupby(jobs, key=lambda job: job.module):
        results: list[tuple[int, CompileResult]] = []
        failed: list[int] = []
        for job in of_module:
            _, outcome = next(outcomes)
            arrived = time.monotonic()
            seconds.waiting += arrived - begin
            models.remove(job)
            if isinstance(outcome, CompileFailure):
                failures.add(f"{module.name}, sample {job.variant}", outcome.kind.value, outcome.detail)
                failed.append(job.variant)
            else:
                seconds.clang += outcome.cpu_seconds
                results.append((job.variant, outcome))
            begin = time.monotonic()
            seconds.preparing += begin - arrived
        of_results = samples_of(module.name, results, default[module.name], problem, corpus_score, normalizer)
        samples += with_failed(of_results, failed, default[module.name], corpus_score)
        arrived, begin = begin, time.monotonic()
        seconds.preparing += begin - arrived
    models.close()
    if not samples:
        raise RunError(
            title,
            f"none of {len(jobs)} compiles has a score that could be compared with the default's",
            "Raise --modules_per_iteration",
            ExitCode.NOTHING_PRODUCED,
        )
    return samples, dict(failures.failed)


def samples_of(
    module: str,
    results: Sequence[tuple[int, CompileResult]],
    default: ModuleRecord,
    problem: Problem,
    corpus_score: CorpusScore,
    normalizer: Normalizer | None,
) -> list[Sample]:
    """What the learner is told of the compiles of one module, (variant, result); those without a score on one of the
    sides are left out.
    """
    score = score_of(problem)
    scores = [score.read(result) for _, result in results]
    overall = [corpus_score.module_improvement(module, found, default.functions) for found in scores]
    decided = [
        normalizer is not None and whole is not None and result.log is not None and result.log.observation_count > 0
        for (_, result), whole in zip(results, overall, strict=True)
    ]
    credits = iter(
        corpus_score.credits_of(
            module,
            list(itertools.compress(scores, decided)),
            default.functions,
            [result.log for _, result in itertools.compress(results, decided)],
        )
    )
    samples = []
    for (variant, result), whole, has_decisions in zip(results, overall, decided, strict=True):
        if whole is None:
            continue
        if not has_decisions:
            samples.append(Sample(module, variant, *whole))
            continue
        log = result.log
        observations = pack(log.features, log.actions, normalizer, problem, log.observation_context)
        samples.append(Sample(module, variant, *whole, observations, *next(credits)))
    return samples


def with_failed(
    samples: Sequence[Sample], failed: Sequence[int], default: ModuleRecord, corpus_score: CorpusScore
) -> list[Sample]:
    """The samples of one module and of those of its compiles that failed, by variant.

    A failed compile counts as the worst: its module as `failed_improvement` says; each of its functions as the worst
    function of the module's other compiles, and never as better than the default. Its decisions are not known, so they
    cannot be blamed. But algorithms that compare the compiles of a module then prefer the decisions of all others, and
    failing never pays. Without another compile there is nothing to compare.

    Args: failed: the variants whose compiles failed.
    """
    if not samples or not failed:
        return list(samples)
    module = samples[0].module
    worst = min([0.0, *(value for sample in samples for value in sample.credits.values())])
    credited = {name: worst for sample in samples for name in sample.credits}
    counted = failed_improvement(corpus_score, module, default.functions)
    lost = [] if counted is None else [Sample(module, v, *counted, credits=credited, failed=True) for v in failed]
    return sorted([*samples, *lost], key=lambda sample: sample.variant)


def improvement_distribution(samples: Sequence[Sample]) -> dict[str, float]:
    """Weighted mean and quantiles of the improvements over the default of an iteration's compiles that succeeded."""
    samples = [sample for sample in samples if not sample.failed]
    values = np.array([sample.improvement for sample in samples], np.float64)
    weights = np.array([sample.weight for sample in samples], np.float64)
    quantiles = np.quantile(values, list(_QUANTILES.values()))
    return {
        "mean": float(np.average(values, weights=weights)),
        **dict(zip(_QUANTILES, quantiles.tolist(), strict=True)),
    }


def failures_by_kind(failed: Mapping[str, str]) -> dict[str, int]:
    """Number of failures by kind."""
    return dict(sorted(collections.Counter(failed.values()).items()))
