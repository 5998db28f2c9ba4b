"""The identity of a policy: three short texts that a compiler with the policy inside can print."""

import dataclasses
import hashlib
import os
import pathlib
from collections.abc import Mapping
from typing import Any

from mlgo.run.exit_codes import RunError
from mlgo.run.files import read_json
from mlgo.run.regular_file import open_regular

_REMEDY = "Name a directory that a training run or save_policy has written, or a SavedModel's"
#: Digits of a digest in a line for display.
_SHORT = 12


@dataclasses.dataclass(frozen=True)
class Identity:
    name: str  #: the problem that the policy decides.
    #: the run that made it, for display: "seed 1, iteration 55, corpus 0c3c63775983"; "not recorded" without a record.
    training_run: str
    #: sha256 of saved_model.pb, which holds all that decides: what `sha256sum` prints for that file. A SavedModel of
    #: another trainer has its weights beside it: then sha256 of the digests of saved_model.pb and of these files.
    digest: str


def identity(folder: str | os.PathLike[str], problem_name: str) -> Identity:
    """The identity of the policy or SavedModel in `folder`.

    Raises: RunError: policy.json is damaged, saved_model.pb cannot be read, or is not the one that policy.json names.
    """
    folder = pathlib.Path(folder)
    record = (
        read_json(folder / "policy.json", "the policy's record", _REMEDY) if (folder / "policy.json").exists() else {}
    )
    if not isinstance(record, dict):
        raise RunError(f"the policy's record {folder / 'policy.json'}", "is not a JSON object", _REMEDY)
    recorded = _mapping(record, "sha256").get("saved_model.pb")
    path = folder / "saved_model.pb"
    if path.exists() or recorded is None:
        digest = _digest_of(path)
        if recorded not in (None, digest):
            raise RunError(f"the policy {path}", "is not the one that policy.json names (sha256 differs)", _REMEDY)
        if recorded is None and (weights := sorted((folder / "variables").glob("variables.*"))):
            digests = "".join(f"{_digest_of(each)}  {each.name}\n" for each in weights)
            digest = hashlib.sha256(f"{digest}  {path.name}\n{digests}".encode()).hexdigest()
    else:
        digest = str(recorded)
    return Identity(problem_name, training_run(_mapping(record, "training")), digest)


def _digest_of(path: pathlib.Path) -> str:
    try:
        with open_regular(path) as descriptor, open(descriptor, "rb", closefd=False) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise RunError(f"the policy {path}", f"cannot be read: {error.strerror}", _REMEDY) from error


def problem_of(folder: str | os.PathLike[str], problem_name: str) -> str:
    """The name of the problem with the settings of the policy in `folder`: "inlining_for_size+ir2vec.75...".

    Args: problem_name: name without settings; the result for a policy of another problem, or without a record.
    Raises: RunError: policy.json is damaged.
    """
    path = pathlib.Path(folder) / "policy.json"
    record = read_json(path, "the policy's record", _REMEDY) if path.exists() else {}
    found = record.get("problem") if isinstance(record, dict) else None
    return found if isinstance(found, str) and found.partition("+")[0] == problem_name else problem_name


def training_run(training: Mapping[str, Any]) -> str:
    """One line from the part "training" of policy.json; see Identity.training_run."""
    parts = []
    if isinstance(training.get("made_up"), str):
        parts.append(f"none, made up ({training['made_up']})")
    seed = _mapping(_mapping(training, "configuration"), "run").get("seed", training.get("seed"))
    if isinstance(seed, int):
        parts.append(f"seed {seed}")
    # "ppo": what policies of before other algorithms say.
    iteration = (_mapping(training, "learning") or _mapping(training, "ppo")).get("chosen_iteration")
    if isinstance(iteration, int):
        parts.append(f"iteration {iteration}")
    corpus = _mapping(training, "inputs").get("train_corpus")
    if isinstance(corpus, str):
        parts.append(f"corpus {corpus[:_SHORT]}")
    return ", ".join(parts) or "not recorded"


def _mapping(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}
