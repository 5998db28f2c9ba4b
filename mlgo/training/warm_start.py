"""The stage that makes the weights a run starts from: cloned from the default heuristic, random, or an earlier policy's.

Its folder then holds a checkpoint `result` and the normaliser that belongs to these weights, `normalizer.json`.
"""

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.learning import checkpoint
from mlgo.learning.network import NetworkConfig, PolicyNetwork, initial_network
from mlgo.learning.normalization import Normalizer, load_normalizer
from mlgo.learning.observations import concatenate, pack
from mlgo.policy.directory import load_policy
from mlgo.problems.problem import Problem
from mlgo.run import files, progress
from mlgo.run.exit_codes import RunError
from mlgo.trace.trace import Trace

_RESULT = "result"
_NORMALIZER_NAME = "normalizer.json"
_REMEDY = "Delete the folder and run the same command again"


def clone_default(
    folder: pathlib.Path,
    trace: Trace,
    names: Sequence[str],
    vocabulary: pathlib.Path,
    problem: Problem,
    seed: int,
    network_config: NetworkConfig,
    config: Any,
) -> Mapping[str, Any]:
    """Clones the default's decisions in modules `names` of `trace`, with a BcConfig.

    Returns: the figures for the manifest.
    """
    # It brings TensorFlow, which the other ways to start do without.
    from mlgo.learning.behavioural_cloning import train_bc  # pylint: disable=import-outside-toplevel

    normalizer = load_normalizer(vocabulary, problem, network_config.segments, network_config.knots)
    parts = []
    for name in names:
        decisions = trace.decisions(name, problem)
        parts.append(pack(decisions.features, decisions.actions, normalizer, problem, decisions.observation_context))
    network = initial_network(normalizer, seed, network_config)
    done = checkpoint.load_checkpoint(folder / "epochs", "behavioural_cloning")
    shown = progress.start("warm start", config.epochs, "epochs", done=len(done[1]["epochs"]) if done else 0)
    try:
        result = train_bc(network, concatenate(parts), seed, config, folder / "epochs", shown)
    finally:
        shown.close()
    figures = {
        "epochs": [dataclasses.asdict(epoch) for epoch in result.epochs],
        "best_epoch": result.best_epoch,
        "training_decisions": result.training_decisions,
        "validation_decisions": result.validation_decisions,
        "validation_accuracy": result.validation_accuracy,
        "majority_accuracy": result.majority_accuracy,
    }
    return _keep(folder, result.network, {"from": "bc", **figures})


def start_randomly(
    folder: pathlib.Path, vocabulary: pathlib.Path, problem: Problem, seed: int, network_config: NetworkConfig
) -> Mapping[str, Any]:
    """Fresh weights over the normaliser of `vocabulary`."""
    normalizer = load_normalizer(vocabulary, problem, network_config.segments, network_config.knots)
    return _keep(folder, initial_network(normalizer, seed, network_config), {"from": "none"})


def start_from_policy(folder: pathlib.Path, policy: pathlib.Path, problem: Problem) -> Mapping[str, Any]:
    """The weights and the normaliser of the policy directory `policy`.

    Raises: RunError: it is none, or of another problem.
    """
    network, record = load_policy(policy, problem)
    return _keep(folder, network, {"from": "policy", "policy_sha256": record["sha256"]})


def load_start(folder: pathlib.Path) -> PolicyNetwork:
    """The network that the stage has left in `folder`.

    Raises: RunError: there is none, or it is damaged.
    """
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
