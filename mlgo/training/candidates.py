"""The best of the validated weights of a run. The others are deleted, so that a long run does not fill the disk."""

import dataclasses
import pathlib
from collections.abc import Collection, Iterable

import numpy as np

from mlgo.learning import checkpoint
from mlgo.learning.network import PolicyNetwork
from mlgo.run.exit_codes import RunError
from mlgo.run.json_fields import Fields
from mlgo.training.learning_records import read_records

_CANDIDATES = "candidates"


@dataclasses.dataclass(frozen=True)
class Candidate:
    """Validated weights.

    Attributes:
      iteration: number of iterations they have learned from; 0: the initial weights.
      ratio: geometric mean of the score ratio over the validation modules; below 1 is better than the default.
    """

    iteration: int
    ratio: float


def save_candidate(folder: pathlib.Path, iteration: int, network: PolicyNetwork) -> None:
    """Saves the weights. Call it before the figures of their validation are written."""
    checkpoint.save_checkpoint(folder / _CANDIDATES, f"{iteration:05}", dict(network.weights), {"iteration": iteration})


def keep_only(folder: pathlib.Path, kept: Collection[Candidate]) -> None:
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


def choose(candidates: Iterable[Candidate | None]) -> Candidate:
    """The candidate with the lowest ratio; the earlier one of equals. Args: candidates: None: there is none yet.

    Raises: ValueError: there is none at all.
    """
    known = [candidate for candidate in candidates if candidate is not None]
    if not known:
        raise ValueError("no weights were validated")
    return min(known, key=lambda candidate: (candidate.ratio, candidate.iteration))


def candidate_network(folder: pathlib.Path, candidate: Candidate, template: PolicyNetwork) -> PolicyNetwork:
    """The network of `candidate`, with the normaliser of `template`.

    Raises: RunError: its weights are missing or damaged.
    """
    loaded = checkpoint.load_checkpoint(folder / _CANDIDATES, f"{candidate.iteration:05}")
    if loaded is None:
        remedy = "Delete the folder and run the same command again"
        raise RunError(f"weights of iteration {candidate.iteration} in {folder}", "are absent", remedy)
    arrays: dict[str, np.ndarray] = loaded[0]
    return template.with_weights(arrays)
