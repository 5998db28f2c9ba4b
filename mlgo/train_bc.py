"""Behavioural cloning: trains a policy that repeats the decisions of a trace, the "warm start" of ml-compiler-opt's documents.

    ./bazelw run //mlgo:train_bc -- --root_dir=/data/warmstart --data_path=/data/trace
    ./bazelw run //mlgo:train_bc -- --root_dir=/data/warmstart --data_path=/data/trace --gin_bindings="BcConfig.epochs=20"

Input: what //mlgo:generate_default_trace has written. Output, below --root_dir: policy/ (SavedModel, TFLite model, record), which
--warm_start of the training commands and --policy_path take, and the vocabulary, if none was given. --validation_modules modules
are not trained on: how often the policy decides as the heuristic did in them is told at the end and stands in the record.
Equal input, flags and seed give equal bytes. Ctrl-C or worse: the same command goes on.

Exit codes: 0 done, 2 something is not as it should be, 10 the trace holds no decision, 130 interrupted.
"""

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any

from absl import flags

from mlgo.commands import training as command
from mlgo.learning.network import PolicyNetwork
from mlgo.learning.observations import concatenate, pack
from mlgo.problems.problem import Problem
from mlgo.run import determinism, locate
from mlgo.run.exit_codes import ExitCode
from mlgo.run.quiet import quiet_libraries
from mlgo.run.run_folder import RunFolder
from mlgo.trace.finished import open_trace
from mlgo.trace.trace import Trace
from mlgo.trace.vocabulary import build_vocabulary, digest_of_vocabulary
from mlgo.training import export, preflight, warm_start
from mlgo.training.configuration import Configurations
from mlgo.training.module_order import validation_split

FLAGS = flags.FLAGS

flags.DEFINE_string("root_dir", None, "Folder of the result.", required=True)
flags.DEFINE_string("data_path", None, "The trace.", required=True)
flags.DEFINE_string("vocabulary", None, "Folder with FEATURE.buckets files. Default: one is made from the trace.")
command.define_seed_flags()


def main(arguments: list[str]) -> int:
    """Clones; returns the exit code."""
    command.refuse_arguments(arguments)
    trace, problem, traced = open_trace(locate.user_path(FLAGS.data_path), "--data_path")
    configurations = command.configurations_given(problem.name)[0]
    vocabulary = locate.user_path(FLAGS.vocabulary) if FLAGS.vocabulary else None
    if vocabulary is not None:
        preflight.check_vocabulary(vocabulary, problem)
    folder = RunFolder(locate.user_path(FLAGS.root_dir))
    identity = {
        "trace": traced.digest,
        "vocabulary": vocabulary and digest_of_vocabulary(vocabulary, problem),
        "configuration": _settings(configurations),
    }
    folder.claim(identity)
    if vocabulary is None:
        vocabulary = folder.path / "vocabulary"
        config, seed = configurations.vocabulary, configurations.run.seed
        folder.stage(
            "vocabulary",
            {"trace": traced.digest},
            {**dataclasses.asdict(config), "seed": seed},
            lambda stage: build_vocabulary(stage, trace, problem, config, seed),
        )
    inputs = {"trace": traced.digest, "vocabulary": digest_of_vocabulary(vocabulary, problem)}
    figures = folder.stage(
        "warm_start",
        inputs,
        _settings(configurations),
        lambda stage: _clone(stage, trace, problem, vocabulary, configurations),
    ).summary
    _publish(
        folder.path, problem, {**identity, "behavioural_cloning": {k: v for k, v in figures.items() if k != "epochs"}}
    )
    print(
        f"repeats {figures['held_out_accuracy']:.2%} of the {figures['held_out_decisions']} decisions in"
        f" {figures['held_out_modules']} modules that it was not trained on (always the same one:"
        f" {figures['majority_accuracy']:.2%}) -> {folder.path / 'policy'}"
    )
    return ExitCode.DONE


def _settings(configurations: Configurations) -> dict[str, Any]:
    parts = configurations.to_json()
    run = {name: parts["run"][name] for name in ("problem", "seed", "validation_modules")}
    return {"run": run, **{name: parts[name] for name in ("vocabulary", "network", "behavioural_cloning")}}


def _clone(
    folder: pathlib.Path, trace: Trace, problem: Problem, vocabulary: pathlib.Path, configurations: Configurations
) -> Mapping[str, Any]:
    with quiet_libraries():
        from mlgo.learning import behavioural_cloning  # pylint: disable=import-outside-toplevel

        determinism.configure_tensorflow()
    settings = configurations.run
    training, held_out = validation_split(trace.traced, settings.validation_modules, settings.seed)
    figures = warm_start.clone_default(
        folder,
        trace,
        training,
        vocabulary,
        problem,
        settings.seed,
        configurations.network,
        configurations.behavioural_cloning,
    )
    network = warm_start.load_start(folder)
    unknown = _packed(trace, held_out, network, problem)
    return {
        **figures,
        "held_out_modules": len(held_out),
        "held_out_decisions": len(unknown),
        "held_out_accuracy": behavioural_cloning.accuracy_of(network, unknown),
    }


def _packed(trace: Trace, names: list[str], network: PolicyNetwork, problem: Problem):
    parts = []
    for name in names:
        of = trace.decisions(name, problem)
        parts.append(pack(of.features, of.actions, network.normalizer, problem, of.observation_context))
    return concatenate(parts)


def _publish(folder: pathlib.Path, problem: Problem, training: Mapping[str, Any]) -> None:
    with quiet_libraries():
        export.export_policy(folder / "export", warm_start.load_start(folder / "warm_start"), problem)
    export.publish_policy(folder / "export", folder / "policy", problem, training)


if __name__ == "__main__":
    command.run_command(main)
