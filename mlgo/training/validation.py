"""Validation of a run's weights, the best of them, and the choice.

All weights are validated on the same modules: those that compile with the first weights. One that fails with later
weights counts as the worst there is (score.py, `failed_improvement`), so that none gains by failing.

The weights of all but the best candidates are deleted, so that a long run does not fill the disk.
"""

import dataclasses
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mlgo.compiler.request import CompileFailure
from mlgo.evaluation.statistics import summarize_modules
from mlgo.learning import checkpoint
from mlgo.learning.network import PolicyNetwork
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.json_fields import Fields
from mlgo.trace.outcomes import FailureLimit
from mlgo.training.collection import CompileJob, CompileOutcome, Scoring, failures_by_kind
from mlgo.training.figures import FAILED, LearningRecords, read_records
from mlgo.training.settings import RunSettings

_CANDIDATES = "candidates"


class Candidate(NamedTuple):
    """Weights that have learned from so many iterations, and their mean ratio; below 1 beats the default."""

    iteration: int
    ratio: float


class Validation:
    """Validates weights, records their figures, and keeps the weights of the best ones.

    A run goes on with more iterations as one that began with so many. Only its last validation depends on the number:
    the best of the validations that runs of any length do is therefore kept beside the best of all.
    """

    def __init__(self, folder: pathlib.Path, scoring: Scoring, settings: RunSettings, records: LearningRecords):
        self._folder, self._scoring, self._settings, self._records = folder, scoring, settings, records
        self._candidates = read_candidates(folder)
        #: Modules that fail with the first weights; None: these were not validated yet.
        self._left_out: frozenset[str] | None = None
        if self._candidates:
            self._left_out = frozenset(read_records(folder)[1][0].get(FAILED, {}))
            keep_only(folder, self._best(self._candidates))

    def _best(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The best of all `candidates`, and of those that runs of any length validate."""
        regular = [each for each in candidates if is_regular(each.iteration, self._settings)]
        return [choose(candidates), choose(regular)]

    def validate(
        self, iteration: int, jobs: Sequence[CompileJob], outcomes: Iterator[CompileOutcome]
    ) -> dict[str, Any]:
        """Takes the outcomes of `jobs`, all under the weights after `iteration` iterations; returns the figures.
        Raises: RunError: too many compiles failed, or no module could be compared.
        """
        title = f"validation after {iteration}"
        failures = FailureLimit(title, len(jobs), self._settings.max_failure_ratio)
        improvements: dict[str, tuple[float, float]] = {}
        for job, outcome in zip(jobs, outcomes):
            if isinstance(outcome, CompileFailure):
                failures.add(job.module.name, outcome.kind.value, outcome.detail)
            if (found := self._scoring.improvement(job.module.name, outcome)) is not None:
                improvements[job.module.name] = found
        if self._left_out is None:
            self._left_out = frozenset(failures.failed)
        compared = {name: found for name, found in improvements.items() if name not in self._left_out}
        if (summary := summarize_modules(compared, self._settings.seed)) is None:
            wrong = f"none of {len(jobs)} modules could be compared"
            remedy = "Give a corpus of more modules, or raise --validation_modules"
            raise RunError(title, wrong, remedy, ExitCode.NOTHING_PRODUCED)
        candidate = Candidate(iteration, summary.geometric_mean)
        best = self._best([*self._candidates, candidate])
        network = jobs[0].variant.network
        if candidate in best and isinstance(network, PolicyNetwork):  # Learners have no other.
            save_candidate(self._folder, iteration, network)
        record = {
            "iteration": iteration,
            FAILED: dict(failures.failed),
            "failures": failures_by_kind(failures.failed),
            **dataclasses.asdict(summary),
        }
        self._records.add_validation(record)
        self._candidates.append(candidate)
        keep_only(self._folder, best)
        return record


def is_regular(iteration: int, settings: RunSettings) -> bool:
    """Whether a run of any length validates the weights that have learned from `iteration` iterations."""
    return iteration % settings.validation_interval == 0


def save_candidate(folder: pathlib.Path, iteration: int, network: PolicyNetwork) -> None:
    """Saves the weights. Call it before the figures of their validation are written."""
    checkpoint.save_checkpoint(folder / _CANDIDATES, f"{iteration:05}", dict(network.weights), {"iteration": iteration})


def keep_only(folder: pathlib.Path, kept: Sequence[Candidate]) -> None:
    """Deletes the weights of all other candidates, and what a killed process left of them."""
    names = tuple(f"{candidate.iteration:05}{mark}" for candidate in kept for mark in ".-")
    for path in (folder / _CANDIDATES).iterdir():
        if not path.name.startswith(names):
            path.unlink()


def read_candidates(folder: pathlib.Path) -> list[Candidate]:
    """The validated weights of the stage in `folder`, by iteration."""
    _, validations = read_records(folder)
    remedy = f"Delete {folder} and run the same command again"
    records = [Fields(record, f"validation in {folder}", remedy) for record in validations]
    return [Candidate(fields.read("iteration", int), fields.read("geometric_mean", float)) for fields in records]


def choose(candidates: Sequence[Candidate]) -> Candidate:
    """The candidate with the lowest ratio; the earlier one of equals. Raises: ValueError: there is none."""
    if not candidates:
        raise ValueError("no weights were validated")
    return min(candidates, key=lambda candidate: (candidate.ratio, candidate.iteration))


def candidate_network(folder: pathlib.Path, iteration: int, template: PolicyNetwork) -> PolicyNetwork:
    """The saved network, normalised as `template`. Raises: RunError: its weights are missing or damaged."""
    loaded = checkpoint.load_checkpoint(folder / _CANDIDATES, f"{iteration:05}")
    if loaded is None:
        remedy = "Delete the folder and run the same command again"
        raise RunError(f"weights of iteration {iteration} in {folder}", "are absent", remedy)
    return template.with_weights(loaded[0])
