"""The validated weights of a run, and the choice of the best."""

import dataclasses
import pathlib

import numpy as np

from mlgo.learning import checkpoint
from mlgo.learning.network import PolicyNetwork
from mlgo.run import files
from mlgo.run.exit_codes import RunError
from mlgo.run.json_fields import Fields

_CANDIDATES, _VALIDATIONS = "candidates", "validations"


@dataclasses.dataclass(frozen=True)
class Candidate:
    """Validated weights.

    Attributes:
      iteration: number of iterations they have learned from; 0: the initial weights.
      ratio: geometric mean of the score ratio over the validation modules; below 1 is better than the default.
    """

    iteration: int
    ratio: float


def validation_path(folder: pathlib.Path, iteration: int) -> pathlib.Path:
    """The file of a validation's figures below the learning stage's `folder`."""
    return folder / _VALIDATIONS / f"{iteration:05}.json"


def save_candidate(folder: pathlib.Path, iteration: int, network: PolicyNetwork) -> None:
    """Saves the weights. Call it before the figures of their validation are written."""
    checkpoint.save_checkpoint(folder / _CANDIDATES, f"{iteration:05}", dict(network.weights), {"iteration": iteration})


def read_candidates(folder: pathlib.Path) -> list[Candidate]:
    """The validated weights of the stage in `folder`, by iteration."""
    found = []
    for path in sorted((folder / _VALIDATIONS).glob("*.json")):
        remedy = f"Delete {path} and run the same command again"
        fields = Fields(files.read_json(path, "validation", remedy), f"validation ({path})", remedy)
        found.append(Candidate(fields.read("iteration", int), fields.read("geometric_mean", float)))
    return found


def choose(candidates: list[Candidate]) -> Candidate:
    """The candidate with the lowest ratio; the earlier one of equals.

    Raises: ValueError: there is none.
    """
    if not candidates:
        raise ValueError("no weights were validated")
    return min(candidates, key=lambda candidate: (candidate.ratio, candidate.iteration))


def candidate_network(folder: pathlib.Path, candidate: Candidate, like: PolicyNetwork) -> PolicyNetwork:
    """The network of `candidate`, with the normaliser of `like`.

    Raises: RunError: its weights are missing or damaged.
    """
    loaded = checkpoint.load_checkpoint(folder / _CANDIDATES, f"{candidate.iteration:05}")
    if loaded is None:
        remedy = "Delete the folder and run the same command again"
        raise RunError(f"weights of iteration {candidate.iteration} in {folder}", "are absent", remedy)
    arrays: dict[str, np.ndarray] = loaded[0]
    return like.with_weights(arrays)
