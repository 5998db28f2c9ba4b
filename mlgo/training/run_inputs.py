"""The inputs of a training run, and the identity that they give it."""

import dataclasses
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

from mlgo.corpus.command_changes import CommandChanges
from mlgo.corpus.corpus import Corpus
from mlgo.identity.code import run_identity
from mlgo.identity.programs import compiler_identity, program_identity
from mlgo.policy.directory import load_policy
from mlgo.policy.peer_policy import load_any_policy
from mlgo.problems.problem import Problem
from mlgo.run import files
from mlgo.run.cache import Cache
from mlgo.run.manifest import digest_of_bytes, digest_of_file
from mlgo.size_estimator.estimated_code import EstimatedCode
from mlgo.size_estimator.estimator import SizeEstimator
from mlgo.trace.vocabulary import digest_of_vocabulary
from mlgo.training.settings import Configurations

ESTIMATION_INPUTS = ("size_estimator", "opt")  #: names of the digests that `Estimation.digests` gives.


@dataclasses.dataclass(frozen=True)
class Estimation:
    """Inputs of estimated code sizes: estimator.json of //mlgo:train_size_estimator; an opt of the clang's LLVM."""

    size_estimator: pathlib.Path
    opt: pathlib.Path

    def digests(self) -> dict[str, str]:
        return {"size_estimator": digest_of_file(self.size_estimator), "opt": program_identity(self.opt)}

    def load(self) -> EstimatedCode:
        return EstimatedCode(SizeEstimator.load(self.size_estimator), self.opt)


@dataclasses.dataclass(frozen=True)
class RunInputs:
    """Paths that a run reads and writes."""

    clang: pathlib.Path
    train_corpus: pathlib.Path | None  #: corpus to learn from; None with `split_corpus`.
    #: corpus on which the result is measured; None: it is not measured, or with `split_corpus`.
    held_out_corpus: pathlib.Path | None
    vocabulary: pathlib.Path | None  #: a vocabulary to use; None: one is made from the default trace.
    policy: pathlib.Path | None  #: the policy to start from with RunSettings.warm_start "policy", else None.
    output: pathlib.Path
    cache: Cache | None = None  #: compile results that runs share; None: no cache.
    imitated: tuple[pathlib.Path, ...] = ()  #: policies to imitate, for an algorithm that imitates.
    estimation: Estimation | None = None  #: inputs of a reward that is an estimate; None for other rewards.
    #: options that the corpora's commands may have although they may do more than change code.
    allowed_options: tuple[str, ...] = ()
    changes: CommandChanges = CommandChanges()  #: what becomes of the commands of all corpora.
    #: regular expression; only modules in whose name it is found are learned from, or split; None: all.
    module_filter: str | None = None
    #: a corpus to split into one to learn from and one to measure on; None: both are given.
    split_corpus: pathlib.Path | None = None


def identity_of(
    inputs: RunInputs, configurations: Configurations, corpora: Mapping[str, Corpus], problem: Problem
) -> dict[str, Any]:
    """What determines the result of a run, as JSON values: settings, digests of the inputs and of our code, versions.
    Raises: RunError: a policy to start from or to imitate is not a policy for `problem`, or the compiler is unreadable.
    """

    def digest_of_policy(folder: pathlib.Path, load: Callable[..., Any] = load_policy) -> str:
        return digest_of_bytes(files.encode_json(load(folder, problem)[1]["sha256"]))

    digests = {
        **{f"{name}_corpus": corpus.digest for name, corpus in corpora.items()},
        "clang": compiler_identity(inputs.clang),
        "vocabulary": inputs.vocabulary and digest_of_vocabulary(inputs.vocabulary, problem),
        "policy": inputs.policy and digest_of_policy(inputs.policy),
        "imitated": [digest_of_policy(folder, load_any_policy) for folder in inputs.imitated],
        **(inputs.estimation.digests() if inputs.estimation is not None else {}),
    }
    return run_identity({"configuration": configurations.to_json(), "inputs": digests})
