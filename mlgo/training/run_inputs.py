"""Where a training run reads and writes, and what makes it the run it is."""

import dataclasses
import importlib.metadata
import pathlib
import platform
from collections.abc import Mapping
from typing import Any

from mlgo.corpus.corpus import Corpus
from mlgo.policy.directory import load_policy
from mlgo.problems.problem import Problem
from mlgo.run import files
from mlgo.run.cache import Cache
from mlgo.run.manifest import digest_of_bytes, digest_of_file
from mlgo.trace.vocabulary import digest_of_vocabulary
from mlgo.training.configuration import Configurations
from mlgo.training.estimated_reward import Estimation

#: Packages whose version can change a result.
_PACKAGES = ("numpy", "tensorflow-cpu", "tf-agents", "tensorflow-probability", "zstandard")


@dataclasses.dataclass(frozen=True)
class RunInputs:
    """Where a run reads and writes.

    Attributes:
      clang: the development clang.
      train_corpus: what is learned from.
      held_out_corpus: what the result is measured on; None: it is not measured.
      vocabulary: a vocabulary to use; None: one is made from the default trace.
      policy: what RunSettings.warm_start "policy" starts from; None with every other.
      output: the run's folder.
      cache: where what compiles gave is kept for other runs; None: nowhere.
      imitated: policies to learn from, for an algorithm that imitates.
      estimation: how code sizes are estimated, for a reward that is an estimate; None with every other.
    """

    clang: pathlib.Path
    train_corpus: pathlib.Path
    held_out_corpus: pathlib.Path | None
    vocabulary: pathlib.Path | None
    policy: pathlib.Path | None
    output: pathlib.Path
    cache: Cache | None = None
    imitated: tuple[pathlib.Path, ...] = ()
    estimation: Estimation | None = None


def identity_of(
    inputs: RunInputs, configurations: Configurations, corpora: Mapping[str, Corpus], problem: Problem
) -> dict[str, Any]:
    """Everything that decides the result of a run: its settings, the digests of what it reads, and versions; JSON values.

    Raises: RunError: a policy to start from or to imitate is none of `problem`.
    """

    def digest_of_policy(folder: pathlib.Path) -> str:
        return digest_of_bytes(files.encode_json(load_policy(folder, problem)[1]["sha256"]))

    return {
        "configuration": configurations.to_json(),
        "inputs": {
            **{f"{name}_corpus": corpus.digest for name, corpus in corpora.items()},
            "clang": digest_of_file(inputs.clang),
            "vocabulary": inputs.vocabulary and digest_of_vocabulary(inputs.vocabulary, problem),
            "policy": inputs.policy and digest_of_policy(inputs.policy),
            "imitated": [digest_of_policy(folder) for folder in inputs.imitated],
            **(inputs.estimation.digests() if inputs.estimation is not None else {}),
        },
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "unknown"
    return found
