"""The stage that makes the initial weights of a run: cloned from the default heuristic, random, or those of a policy.

The stage leaves a checkpoint `result` and the normaliser of these weights, `normalizer.json`, in its folder. A run may
consist of this stage alone (`clone_trace`).
"""

import contextlib
import dataclasses
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlgo.identity.code import run_identity
from mlgo.learning import checkpoint
from mlgo.learning.network import PolicyNetwork, initial_network
from mlgo.learning.normalization import Normalizer, load_normalizer
from mlgo.learning.observations import Observations, concatenate, pack
from mlgo.policy.directory import load_policy
from mlgo.problems.problem import Problem
from mlgo.run import determinism, files, progress
from mlgo.run.exit_codes import RunError
from mlgo.run.manifest import Manifest
from mlgo.run.quiet import quiet_libraries
from mlgo.run.run_folder import RunFolder
from mlgo.trace.trace import Trace
from mlgo.trace.vocabulary import build_vocabulary, digest_of_vocabulary
from mlgo.training import export, input_checks
from mlgo.training.corpora import validation_split
from mlgo.training.settings import Configurations

#: Decisions that are cloned at most. All of them are held in memory: 500,000 of eviction (7 candidates of 79 levels)
#: take 280 MB, and twice that while they are joined. The corpora of the shipped policies have 46,000 (eviction) to
#: 441,000 (priority, a tenth of the size each).
MOST_DECISIONS = 500_000

_RESULT = "result"
_NORMALIZER_NAME = "normalizer.json"
_REMEDY = "Delete the folder and run the same command again"


def clone_default(
    folder: pathlib.Path,
    trace: Trace,
    names: Sequence[str],
    vocabulary: pathlib.Path,
    problem: Problem,
    configurations: Configurations,
) -> Mapping[str, Any]:
    """Clones the default's decisions in modules `names` of `trace`; returns the figures for the manifest."""
    # Imports TensorFlow, which the other ways to start do without.
    from mlgo.learning.behavioural_cloning import train_bc  # pylint: disable=import-outside-toplevel

    config, seed = configurations.behavioural_cloning, configurations.run.seed
    network = _random_network(vocabulary, problem, configurations)
    observations = concatenate(packed(trace, names, network.normalizer, problem, seed))
    done = checkpoint.load_checkpoint(folder / "epochs", "behavioural_cloning")
    shown = progress.start("warm start", config.epochs, "epochs", done=len(done[1]["epochs"]) if done else 0)
    with contextlib.closing(shown):
        result = train_bc(network, observations, seed, config, folder / "epochs", shown)
    figures = {name: value for name, value in vars(result).items() if name != "network"}
    figures["epochs"] = [dataclasses.asdict(epoch) for epoch in result.epochs]
    figures["validation_accuracy"] = result.validation_accuracy
    return _keep(folder, result.network, {"from": "bc", **figures})


def packed(
    trace: Trace, names: Sequence[str], normalizer: Normalizer, problem: Problem, seed: int
) -> list[Observations]:
    """The decisions in modules `names` of `trace`, packed for a network with this normaliser, by module.

    Of more than MOST_DECISIONS, about so many: each with the same probability, drawn from (seed, index of the module).
    """
    share = MOST_DECISIONS / max(1, sum(trace.records[name].decisions for name in names))
    found = []
    for index, name in enumerate(names):
        log = trace.decisions(name, problem)
        part = pack(log.features, log.actions, normalizer, problem, log.observation_context)
        if share < 1:
            drawn = determinism.generator(seed, "cloned decisions", index).random(len(part))
            part = part.select(np.flatnonzero(drawn < share))
        if len(part):
            found.append(part)
    return found


def start_randomly(
    folder: pathlib.Path, vocabulary: pathlib.Path, problem: Problem, configurations: Configurations
) -> Mapping[str, Any]:
    return _keep(folder, _random_network(vocabulary, problem, configurations), {"from": "none"})


def _random_network(vocabulary: pathlib.Path, problem: Problem, configurations: Configurations) -> PolicyNetwork:
    config = configurations.network
    normalizer = load_normalizer(vocabulary, problem, config.segments, config.knots)
    return initial_network(normalizer, configurations.run.seed, config)


def start_from_policy(folder: pathlib.Path, policy: pathlib.Path, problem: Problem) -> Mapping[str, Any]:
    """Keeps weights and normaliser of the policy directory `policy`. Raises: RunError: it is not one for `problem`."""
    network, record = load_policy(policy, problem)
    return _keep(folder, network, {"from": "policy", "policy_sha256": record["sha256"]})


def load_start(folder: pathlib.Path) -> PolicyNetwork:
    """The network that the stage left in `folder`. Raises: RunError: it is absent or damaged."""
    loaded = checkpoint.load_checkpoint(folder, _RESULT)
    if loaded is None:
        raise RunError(f"warm start in {folder}", "is absent", _REMEDY)
    path = folder / _NORMALIZER_NAME
    try:
        normalizer = Normalizer.from_json(files.read_json(path, "normaliser", _REMEDY))
    except ValueError as error:
        raise RunError(f"normaliser ({path})", str(error), _REMEDY) from error
    return PolicyNetwork(normalizer, loaded[0])


def _keep(folder: pathlib.Path, network: PolicyNetwork, figures: Mapping[str, Any]) -> Mapping[str, Any]:
    files.write_json_atomically(folder / _NORMALIZER_NAME, network.normalizer.to_json())
    checkpoint.save_checkpoint(folder, _RESULT, network.weights, figures)
    return figures


def vocabulary_of(
    folder: RunFolder,
    given: pathlib.Path | None,
    trace: Trace,
    traced: Manifest,
    problem: Problem,
    configurations: Configurations,
) -> tuple[pathlib.Path, str]:
    """The vocabulary `given`, or else the one that a stage of the run makes from `trace`: (folder, digest)."""
    if given is None:
        given = folder.path / "vocabulary"
        config, seed = configurations.vocabulary, configurations.run.seed
        folder.stage(
            "vocabulary",
            {"trace": traced.digest},
            {**dataclasses.asdict(config), "seed": seed},
            lambda stage: build_vocabulary(stage, trace, problem, config, seed),
        )
    return given, digest_of_vocabulary(given, problem)


def clone_trace(
    output: pathlib.Path,
    trace: Trace,
    traced: Manifest,
    problem: Problem,
    vocabulary: pathlib.Path | None,
    configurations: Configurations,
) -> Mapping[str, Any]:
    """Clones the decisions of `trace` into the policy `output`/policy, resuming what an earlier call left.

    Returns: figures of the clone; among them its accuracy in the modules that were held out.
    Raises: RunError: `output` holds a run with other arguments.
    """
    if vocabulary is not None:
        input_checks.check_vocabulary(vocabulary, problem)
    folder, parts = RunFolder(output), configurations.to_json()
    run = {name: parts["run"][name] for name in ("problem", "seed", "validation_modules")}
    settings = {"run": run, **{name: parts[name] for name in ("vocabulary", "network", "behavioural_cloning")}}
    given = vocabulary and digest_of_vocabulary(vocabulary, problem)
    identity = run_identity({"trace": traced.digest, "vocabulary": given, "configuration": settings})
    folder.claim(identity)
    vocabulary, digest = vocabulary_of(folder, vocabulary, trace, traced, problem, configurations)
    figures = folder.stage(
        "warm_start",
        {"trace": traced.digest, "vocabulary": digest},
        settings,
        lambda stage: _clone(stage, trace, problem, vocabulary, configurations),
    ).summary
    with quiet_libraries():
        export.export_policy(output / "export", load_start(output / "warm_start"), problem)
    training = {**identity, "behavioural_cloning": {k: v for k, v in figures.items() if k != "epochs"}}
    export.publish_policy(output / "export", output / "policy", problem, training)
    return figures


def _clone(
    folder: pathlib.Path, trace: Trace, problem: Problem, vocabulary: pathlib.Path, configurations: Configurations
) -> Mapping[str, Any]:
    with quiet_libraries():
        # Imports TensorFlow, which a finished run does without.
        from mlgo.learning import behavioural_cloning  # pylint: disable=import-outside-toplevel

        determinism.configure_tensorflow()
    settings = configurations.run
    training, held_out = validation_split(trace.traced, settings.validation_modules, settings.seed)
    figures = clone_default(folder, trace, training, vocabulary, problem, configurations)
    network = load_start(folder)
    unknown = concatenate(packed(trace, held_out, network.normalizer, problem, settings.seed))
    return {
        **figures,
        "held_out_modules": len(held_out),
        "held_out_decisions": len(unknown),
        "held_out_accuracy": behavioural_cloning.accuracy_of(network, unknown),
    }
