"""A run that only clones: vocabulary, warm start and policy from a finished trace."""

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any

from mlgo.identity.code import run_identity
from mlgo.learning.observations import concatenate
from mlgo.problems.problem import Problem
from mlgo.run import determinism
from mlgo.run.manifest import Manifest
from mlgo.run.quiet import quiet_libraries
from mlgo.run.run_folder import RunFolder
from mlgo.trace.trace import Trace
from mlgo.trace.vocabulary import build_vocabulary, digest_of_vocabulary
from mlgo.training import export, input_checks, warm_start
from mlgo.training.module_order import validation_split
from mlgo.training.settings import Configurations


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
        export.export_policy(output / "export", warm_start.load_start(output / "warm_start"), problem)
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
    figures = warm_start.clone_default(folder, trace, training, vocabulary, problem, configurations)
    network = warm_start.load_start(folder)
    unknown = concatenate(warm_start.packed(trace, held_out, network.normalizer, problem, settings.seed))
    return {
        **figures,
        "held_out_modules": len(held_out),
        "held_out_decisions": len(unknown),
        "held_out_accuracy": behavioural_cloning.accuracy_of(network, unknown),
    }
