"""The learning stage: compile modules under the learner's policies, let it learn, validate now and then.

Below the stage's folder: `latest.json` with its arrays (the checkpoint after the last finished iteration),
`candidates/NNNNN.json` with its own (validation.py), `validations.jsonl` and `iterations.jsonl` (figures.py). Each
iteration ends with its checkpoint, so an interrupted run repeats at most one.

Only the validation that ends a run depends on the number of iterations: a run goes on with more as one that began with
so many. Memory, files and time of an iteration do not depend on how many came before. The compiles of a validation are
queued behind those of the iteration, and run while the learner learns.
"""

import collections
import contextlib
import dataclasses
import pathlib
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mlgo.corpus.corpus import Corpus
from mlgo.learning import checkpoint, divergence
from mlgo.learning.algorithms.registry import algorithm_named
from mlgo.learning.divergence import DivergenceError, OnDivergence
from mlgo.learning.learner import Learner, Sample, Variant
from mlgo.learning.network import AnyPolicy, PolicyNetwork
from mlgo.policy.collection import CollectionPolicy
from mlgo.run import progress
from mlgo.run.json_fields import Fields
from mlgo.run.progress import tell
from mlgo.run.quiet import quiet_libraries
from mlgo.trace.outcomes import ModuleRecord
from mlgo.trace.setup import CompileSetup
from mlgo.training import collection, validation
from mlgo.training.corpora import modules_of_iteration
from mlgo.training.figures import FAILED, LearningRecords, Metrics, read_records
from mlgo.training.settings import Configurations

LATEST = "latest"
_STATE_PREFIX = "optimiser:"


@dataclasses.dataclass(frozen=True)
class LearningInputs:
    """Inputs of the stage."""

    #: training, validation: modules to learn from and to validate on, as they are compiled.
    training: Corpus
    validation: Corpus
    default: Mapping[str, ModuleRecord]  #: module name -> its record under the compiler's default.
    setup: CompileSetup
    imitated: Sequence[AnyPolicy] = ()  #: policies to imitate, for algorithms that imitate.


class LearningLoop:
    """One run of the stage. Args: work: a folder for policies of single compiles; metrics: receives all figures."""

    def __init__(
        self,
        folder: pathlib.Path,
        start: PolicyNetwork,
        inputs: LearningInputs,
        configurations: Configurations,
        work: pathlib.Path,
        metrics: Metrics,
    ):
        self._folder, self._start, self._inputs, self._metrics = folder, start, inputs, metrics
        self._settings, self._config = configurations.run, configurations.learner
        self._rules = configurations.divergence
        self._problem = inputs.setup.problem
        self._scoring = collection.Scoring(self._problem, inputs.default, self._settings.reward)
        self._algorithm = algorithm_named(self._settings.algorithm)
        self._models = CollectionPolicy(self._problem, work)
        self._iteration, self._roll_backs = 0, 0
        loaded = self._load()
        self._records = LearningRecords(folder, self._iteration, self._is_due)
        iterations, validations = read_records(folder)
        metrics.begin(iterations, validations)
        self._recent = collections.deque(iterations[-self._rules.patience :], maxlen=self._rules.patience)
        self._validation = validation.Validation(folder, self._scoring, self._settings, self._records)
        with quiet_libraries():
            self._learner = self._make_learner(*loaded)
            # Models are converted once; here, where no progress bar is disturbed.
            for exploring in {False, *(variant.exploring for variant in self._learner.variants(self._iteration))}:
                self._models.write(start, "first", 1 if exploring else None)
        self._models.remove("first")

    def run(self) -> Mapping[str, Any]:
        """Runs the remaining iterations; returns the chosen candidate and the figures of all validations. Raises:
        RunError: too many compiles of an iteration failed, or the update diverged.
        """
        total = self._settings.iterations
        shown = progress.start(self._settings.algorithm, total, "iterations", done=self._iteration)
        with contextlib.closing(shown):
            while self._iteration < total:
                shown.advance(1, self.iterate())
            last = self._validation_jobs()
            with contextlib.closing(self._compiled(last, 0)) as outcomes:
                self._validate(last, outcomes)
        validated = validation.read_candidates(self._folder)
        best = validation.choose(validated)
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
        weights = loaded[0]
        remedy = "Delete the folder to start the learning stage afresh"
        facts = Fields(loaded[1], f"the checkpoint {LATEST} in {self._folder}", remedy)
        self._iteration, self._roll_backs = facts.read("iteration", int), facts.read("roll_backs", int)
        state = checkpoint.pop_prefixed(_STATE_PREFIX, weights)
        expected = self._algorithm.learner_class().network_forms(self._start)
        if _kinds(weights) not in [_kinds(network.weights) for network in expected]:
            raise facts.error("holds the weights of another network")
        return self._start.with_weights(weights), state

    def _make_learner(self, network: PolicyNetwork, state: Mapping[str, np.ndarray] | None) -> Learner:
        config = divergence.slowed(self._config, self._roll_backs, self._rules)
        seed, imitated = self._settings.seed, self._inputs.imitated
        return self._algorithm.learner_class()(network, self._problem, seed, config, state, imitated)

    def _is_due(self, iteration: int) -> bool:
        """Whether this run validates the weights that have learned from `iteration` iterations."""
        return validation.is_regular(iteration, self._settings) or iteration == self._settings.iterations

    def _validation_jobs(self) -> list[collection.CompileJob]:
        """The compiles that validate the current weights; none when that is not due, or was done."""
        if not self._is_due(self._iteration) or self._records.last_validated == self._iteration:
            return []
        return collection.jobs_of(self._inputs.validation.modules, [Variant(self._learner.network, exploring=False)])

    def _validate(self, jobs: Sequence[collection.CompileJob], outcomes: Iterator[collection.CompileOutcome]) -> None:
        if jobs:
            self._metrics.validation(self._validation.validate(self._iteration, jobs, outcomes))

    def _compiled(
        self, jobs: Sequence[collection.CompileJob], logged: int
    ) -> Generator[collection.CompileOutcome, None, None]:
        """The outcomes of `jobs`. Args: logged: decisions are logged by so many of them, the first ones."""
        wants_log, seed = [index < logged for index in range(len(jobs))], self._settings.seed
        return collection.compile_jobs(jobs, self._inputs.setup, self._models, seed, self._iteration, wants_log)

    def iterate(self) -> str:
        """Runs one iteration; returns a remark for the progress line. Raises: RunError: as `run`."""
        begin, own, seconds = time.monotonic(), time.process_time(), collection.Seconds()
        settings, learner = self._settings, self._learner
        title = f"{settings.algorithm} iteration {self._iteration}"
        known = [module.name for module in self._inputs.training.modules]
        names = modules_of_iteration(known, self._iteration, settings.modules_per_iteration, settings.seed)
        jobs = collection.jobs_of(self._inputs.training.select(names).modules, learner.variants(self._iteration))
        validating = self._validation_jobs()
        normalizer, logged = (learner.normalizer, len(jobs)) if learner.needs_decisions else (None, 0)
        with contextlib.closing(self._compiled([*jobs, *validating], logged)) as outcomes:
            samples, failed = collection.collect(
                title, jobs, outcomes, self._scoring, normalizer, settings.max_failure_ratio, seconds
            )
            metrics, remarks = self._update(title, samples, seconds)
            self._validate(validating, outcomes)
        record = {
            **metrics,
            "iteration": self._iteration,
            "modules": len(names),
            "compiles": len(jobs),
            FAILED: failed,
            "failures": collection.failures_by_kind(failed),
            "reward": collection.improvement_distribution(samples),
        }
        self._records.add_iteration(record)
        self._recent.append(record)
        self._iteration += 1
        self._save()
        seconds.total, seconds.own = time.monotonic() - begin, time.process_time() - own
        self._metrics.iteration(record, {name: round(value, 3) for name, value in vars(seconds).items()})
        shown = [f"{name} {record[name]:.3g}" for name in self._algorithm.shown if name in metrics]
        return ", ".join([f"improvement {100 * record['reward']['mean']:+.2f} %", *shown, *remarks])

    def _update(
        self, title: str, samples: Sequence[Sample], seconds: collection.Seconds
    ) -> tuple[dict[str, Any], list[str]]:
        """Updates the learner: (figures, remarks). Rolls back a divergence if the settings say so. Raises:
        DivergenceError: the update diverged, and the settings or the kind of divergence forbid a roll-back.
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

    def _save(self) -> None:
        state = checkpoint.with_prefix(_STATE_PREFIX, self._learner.state())
        arrays = {**self._learner.network.weights, **state}
        algorithm, seed = self._settings.algorithm, self._settings.seed
        facts = {"algorithm": algorithm, "problem": self._problem.name, "seed": seed}
        facts |= {"iteration": self._iteration, "roll_backs": self._roll_backs}
        checkpoint.save_checkpoint(self._folder, LATEST, arrays, facts)


def _kinds(weights: Mapping[str, np.ndarray]) -> dict[str, tuple[np.dtype, tuple[int, ...]]]:
    """dtype and shape by name."""
    return {name: (array.dtype, array.shape) for name, array in weights.items()}
