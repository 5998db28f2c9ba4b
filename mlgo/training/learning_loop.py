"""The learning stage: compile modules under the learner's policies, let it learn, validate now and then.

Below the stage's folder: `latest.json` with its arrays (the checkpoint after the last finished iteration),
`candidates/NNNNN.json` with its own (the best weights that were validated), `validations.jsonl` and `iterations.jsonl`
(figures, learning_records.py). Each iteration ends with its checkpoint, so an interrupted run repeats at most one.

No learner is told the number of iterations. Only the validation that ends a run depends on it, so a run goes on with
more iterations as one that began with so many: it drops that validation unless it was due anyway, and therefore the
best weights of the validations that were due are kept beside the best of all.

Memory, files and time of an iteration do not depend on how many came before.

Validation of an iteration's weights is queued behind its compiles: these compilers run while the learner learns, and
change nothing of it.

All weights of a run are validated on the same modules: those that compile with the first weights. One that fails with
later weights counts as the worst there is (score.py, `failed_improvement`), so that none gains by failing.
"""

import collections
import contextlib
import dataclasses
import pathlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mlgo.compiler.request import CompileFailure, CompileResult
from mlgo.corpus.corpus import Corpus, Module
from mlgo.evaluation.statistics import summarize_modules
from mlgo.learning import checkpoint, divergence
from mlgo.learning.algorithms.registry import algorithm_named
from mlgo.learning.converted_policy import AnyPolicy
from mlgo.learning.divergence import DivergenceError, DivergenceRules, OnDivergence
from mlgo.learning.learner import Learner, Sample
from mlgo.learning.network import PolicyNetwork
from mlgo.policy.collection import CollectionPolicy
from mlgo.run import progress
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.json_fields import Fields
from mlgo.run.progress import tell
from mlgo.run.quiet import quiet_libraries
from mlgo.score.problem_score import score_of
from mlgo.score.score import failed_improvement
from mlgo.trace.outcomes import FailureLimit, ModuleRecord
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import compile_modules
from mlgo.training import candidates
from mlgo.training.collection import (
    Seconds,
    VariantModels,
    collect,
    failures_by_kind,
    improvement_distribution,
    jobs_of,
)
from mlgo.training.figures import Metrics
from mlgo.training.learning_records import LearningRecords, read_records
from mlgo.training.module_order import modules_of_iteration
from mlgo.training.settings import RunSettings

LATEST = "latest"
_STATE_PREFIX = "optimiser:"
#: The field of an iteration's and a validation's figures with the kind of failure by compile.
_FAILED = "failed_compiles"
_START_AFRESH = "Delete the folder to start the learning stage afresh"

_Outcomes = Iterator[tuple[Module, CompileResult | CompileFailure]]


@dataclasses.dataclass(frozen=True)
class LearningInputs:
    """Inputs of the stage.

    Attributes:
      training, validation: modules to learn from and to validate on, as they are compiled.
      default: module name -> its record under the compiler's default.
      setup: the compile setup.
      imitated: policies to imitate, for algorithms that imitate.
    """

    training: Corpus
    validation: Corpus
    default: Mapping[str, ModuleRecord]
    setup: CompileSetup
    imitated: Sequence[AnyPolicy] = ()


@dataclasses.dataclass(frozen=True)
class _Learned:
    """What came of an iteration.

    Attributes:
      rewarded: the samples whose improvements are the iteration's reward.
      compiles: how many there were, without those of a validation.
      failed: kind of failure by compile.
      metrics, remarks: of the update.
    """

    rewarded: Sequence[Sample]
    compiles: int
    failed: Mapping[str, str]
    metrics: Mapping[str, Any]
    remarks: Sequence[str]


class LearningLoop:
    """One run of the stage.

    Args:
      folder: the stage's folder.
      start: the initial weights.
      inputs: the modules, their default scores and the compile setup.
      settings, config: those of the run and of its algorithm.
      work: a folder for policies of single compiles.
      metrics: receives the figures of every iteration and validation.
      rules: when training counts as diverged.
    """

    def __init__(
        self,
        folder: pathlib.Path,
        start: PolicyNetwork,
        inputs: LearningInputs,
        settings: RunSettings,
        config: Any,
        work: pathlib.Path,
        metrics: Metrics,
        rules: DivergenceRules,
    ):
        self._folder, self._inputs, self._settings, self._config = folder, inputs, settings, config
        self._metrics, self._rules = metrics, rules
        self._problem = inputs.setup.problem
        self._default = {name: record.functions for name, record in inputs.default.items()}
        self._corpus_score = score_of(self._problem).for_corpus(self._default, settings.reward)
        self._algorithm = algorithm_named(settings.algorithm)
        self._models = CollectionPolicy(self._problem, work)
        self._start, self._iteration, self._roll_backs = start, 0, 0
        loaded = self._load()
        self._records = LearningRecords(folder, self._iteration, self._is_due)
        iterations, validations = read_records(folder)
        metrics.begin(iterations, validations)
        self._recent = collections.deque(iterations[-rules.patience :], maxlen=rules.patience)
        #: The best of all validated weights, and the best of those that runs of any length validate.
        self._best = self._best_of_any_length = None
        #: Validation modules that fail with the first weights; None: these were not validated yet.
        self._not_validated: frozenset[str] | None = None
        if validations:
            self._not_validated = frozenset(validations[0].get(_FAILED, {}))
            validated = candidates.read_candidates(folder)
            self._best = candidates.choose(validated)
            self._best_of_any_length = candidates.choose([c for c in validated if self._is_regular(c.iteration)])
            candidates.keep_only(folder, [self._best, self._best_of_any_length])
        with quiet_libraries():
            self._learner = self._make_learner(*loaded)
            # Models are converted once; here, where no progress bar is disturbed.
            for exploring in {False, *(variant.exploring for variant in self._learner.variants(self._iteration))}:
                self._models.write(start, "first", 1 if exploring else None)
        self._models.remove("first")

    def run(self) -> Mapping[str, Any]:
        """Runs the remaining iterations.

        Returns: the summary: the chosen candidate and the figures of all validations.
        Raises: RunError: too many compiles of an iteration failed, or the update diverged.
        """
        total = self._settings.iterations
        shown = progress.start(self._settings.algorithm, total, "iterations", done=self._iteration)
        try:
            while self._iteration < total:
                shown.advance(1, self.iterate())
            if self._must_validate():
                self._validate_alone()
        finally:
            shown.close()
        validated = candidates.read_candidates(self._folder)
        best = candidates.choose(validated)
        return {
            "algorithm": self._settings.algorithm,
            "chosen_iteration": best.iteration,
            "validation_ratio": best.ratio,
            "validations": {str(candidate.iteration): candidate.ratio for candidate in validated},
        }

    def _load(self) -> tuple[PolicyNetwork, dict[str, np.ndarray] | None]:
        """Weights and state of the last checkpoint, or what the run starts from."""
        if (loaded := checkpoint.load_checkpoint(self._folder, LATEST)) is None:
            return self._start, None
        # The last save of a run is not followed by one that would do this.
        checkpoint.remove_superseded(self._folder, LATEST)
        arrays = loaded[0]
        facts = Fields(loaded[1], f"the checkpoint {LATEST} in {self._folder}", _START_AFRESH)
        self._iteration, self._roll_backs = facts.read("iteration", int), facts.read("roll_backs", int)
        weights = {name: arrays[name] for name in arrays if not name.startswith(_STATE_PREFIX)}
        expected = self._algorithm.learner_class().network_forms(self._start, self._config)
        if _kinds(weights) not in [_kinds(network.weights) for network in expected]:
            raise facts.error("holds the weights of another network")
        state = {n.removeprefix(_STATE_PREFIX): v for n, v in arrays.items() if n.startswith(_STATE_PREFIX)}
        return self._start.with_weights(weights), state

    def _make_learner(self, network: PolicyNetwork, state: Mapping[str, np.ndarray] | None) -> Learner:
        config = divergence.slowed(self._config, self._roll_backs, self._rules)
        learner = self._algorithm.learner_class()
        return learner(network, self._problem, self._settings.seed, config, state, self._inputs.imitated)

    def _is_regular(self, iteration: int) -> bool:
        """Whether a run of any length validates the weights that have learned from `iteration` iterations."""
        return iteration % self._settings.validation_interval == 0

    def _is_due(self, iteration: int) -> bool:
        return self._is_regular(iteration) or iteration == self._settings.iterations

    def _must_validate(self) -> bool:
        return self._is_due(self._iteration) and self._records.last_validated != self._iteration

    def iterate(self) -> str:
        """Runs one iteration; returns a remark for the progress line. Raises: RunError: as `run`."""
        begin, own, seconds = time.monotonic(), time.process_time(), Seconds()
        iteration, settings, inputs = self._iteration, self._settings, self._inputs
        title = f"{settings.algorithm} iteration {iteration}"
        known = [module.name for module in inputs.training.modules]
        names = modules_of_iteration(known, iteration, settings.modules_per_iteration, settings.seed)
        modules = inputs.training.select(names).modules
        learned = self._learn_from_variants(title, modules, seconds)
        record = {
            **learned.metrics,
            "iteration": iteration,
            "modules": len(names),
            "compiles": learned.compiles,
            _FAILED: learned.failed,
            "failures": failures_by_kind(learned.failed),
            "reward": improvement_distribution(learned.rewarded),
        }
        self._records.add_iteration(record)
        self._recent.append(record)
        self._iteration += 1
        self._save()
        seconds.total, seconds.own = time.monotonic() - begin, time.process_time() - own
        self._metrics.iteration(record, seconds.rounded())
        shown = [f"{name} {record[name]:.3g}" for name in self._algorithm.shown if name in learned.metrics]
        return ", ".join([f"improvement {100 * record['reward']['mean']:+.2f} %", *shown, *learned.remarks])

    def _learn_from_variants(self, title: str, modules: Sequence[Module], seconds: Seconds) -> "_Learned":
        """Compiles `modules` under the learner's variants, and updates the learner."""
        iteration, settings, inputs = self._iteration, self._settings, self._inputs
        variants = self._learner.variants(iteration)
        jobs = jobs_of(modules, variants)
        models = VariantModels(self._models, variants, settings.seed, iteration)
        network = self._learner.network
        validates = self._must_validate()
        validation = inputs.validation.modules if validates else []

        def written() -> Iterator[pathlib.Path]:
            for job in jobs:
                yield models.write(job)
            if validates:
                model = self._models.write(network, "validation", exploration_seed=None)
                for _ in validation:
                    yield model

        compiled = [*(job.module for job in jobs), *validation]
        learned_from = [self._learner.needs_decisions] * len(jobs) + [False] * len(validation)
        outcomes = compile_modules(compiled, inputs.setup, written(), learned_from)
        with contextlib.closing(outcomes):
            samples, failed = collect(
                title,
                jobs,
                outcomes,
                models,
                inputs.default,
                self._problem,
                self._corpus_score,
                network.normalizer if self._learner.needs_decisions else None,
                settings.max_failure_ratio,
                seconds,
            )
            metrics, remarks = self._update(title, samples, seconds)
            if validates:
                self._validate(network, outcomes)
        return _Learned(samples, len(jobs), failed, metrics, remarks)

    def _update(self, title: str, samples: Sequence[Sample], seconds: Seconds) -> tuple[dict[str, Any], list[str]]:
        """Updates the learner: (figures, remarks). Rolls back a divergence if the settings say so.

        Raises: DivergenceError: the update diverged, and the settings or the kind of divergence forbid a roll-back.
        """
        begin = time.monotonic()
        try:
            metrics = dict(self._learner.update(self._iteration, samples))
            recent = [*self._recent, metrics]
            if (error := divergence.judge(recent, self._rules, self._iteration)) is not None:
                raise error
            return metrics, []
        except DivergenceError as error:
            wanted = OnDivergence(self._settings.on_divergence)
            if divergence.answer_to(error, wanted, self._roll_backs, self._rules) is OnDivergence.STOP:
                raise
            tell(f"{title}: {error.kind.value} ({error.wrong}); going on from the weights before it, more slowly")
            before = self._load()
            self._roll_backs += 1
            self._learner = self._make_learner(*before)
            return {"diverged": error.kind.value}, ["rolled back"]
        finally:
            seconds.learning += time.monotonic() - begin

    def _validate_alone(self) -> None:
        network, modules = self._learner.network, self._inputs.validation.modules
        model = self._models.write(network, "validation", exploration_seed=None)
        outcomes = compile_modules(modules, self._inputs.setup, [model] * len(modules), [False] * len(modules))
        with contextlib.closing(outcomes):
            self._validate(network, outcomes)

    def _validate(self, network: PolicyNetwork, outcomes: _Outcomes) -> None:
        """Takes the validation modules' outcomes under `network`, this iteration's weights, and saves the figures."""
        iteration, inputs = self._iteration, self._inputs
        title = f"validation after {iteration}"
        modules = inputs.validation.modules
        failures = FailureLimit(title, len(modules), inputs.setup.max_failure_ratio)
        improvements: dict[str, tuple[float, float]] = {}
        for module in modules:
            _, outcome = next(outcomes)
            default = inputs.default[module.name].functions
            if isinstance(outcome, CompileFailure):
                failures.add(module.name, outcome.kind.value, outcome.detail)
                found = failed_improvement(self._corpus_score, module.name, default)
            else:
                found = self._corpus_score.module_improvement(
                    module.name, score_of(self._problem).read(outcome), default
                )
            if found is not None:
                improvements[module.name] = found
        self._models.remove("validation")
        if self._not_validated is None:
            self._not_validated = frozenset(failures.failed)
        improvements = {name: found for name, found in improvements.items() if name not in self._not_validated}
        summary = summarize_modules(improvements, self._settings.seed)
        if summary is None:
            wrong = f"none of {len(modules)} modules could be compared"
            remedy = "Give a corpus of more modules, or raise --validation_modules"
            raise RunError(title, wrong, remedy, ExitCode.NOTHING_PRODUCED)
        found = candidates.Candidate(iteration, summary.geometric_mean)
        best = candidates.choose([found, self._best])
        regular = self._best_of_any_length
        if self._is_regular(iteration):
            regular = candidates.choose([found, regular])
        if found in (best, regular):
            candidates.save_candidate(self._folder, iteration, network)
        record = {
            "iteration": iteration,
            _FAILED: dict(failures.failed),
            "failures": failures_by_kind(failures.failed),
            **dataclasses.asdict(summary),
        }
        self._records.add_validation(record)
        self._best, self._best_of_any_length = best, regular
        candidates.keep_only(self._folder, [best, regular])
        self._metrics.validation(record)

    def _save(self) -> None:
        arrays = dict(self._learner.network.weights)
        arrays |= {f"{_STATE_PREFIX}{key}": value for key, value in self._learner.state().items()}
        facts = {
            "iteration": self._iteration,
            "roll_backs": self._roll_backs,
            "algorithm": self._settings.algorithm,
            "problem": self._problem.name,
            "seed": self._settings.seed,
        }
        checkpoint.save_checkpoint(self._folder, LATEST, arrays, facts)


def _kinds(weights: Mapping[str, np.ndarray]) -> dict[str, tuple[np.dtype, tuple[int, ...]]]:
    """dtype and shape by name."""
    return {name: (array.dtype, array.shape) for name, array in weights.items()}
