"""The warm start stage: a network that repeats the default's decisions, learned from the default trace."""

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.learning import checkpoint
from mlgo.learning.behavioural_cloning import BcConfig, train_bc
from mlgo.learning.network import NetworkConfig, PolicyNetwork, initial_network
from mlgo.learning.normalization import load_normalizer
from mlgo.learning.observations import concatenate, pack
from mlgo.problems.problem import Problem
from mlgo.run import progress
from mlgo.run.exit_codes import RunError
from mlgo.trace.trace import Trace

_RESULT = "result"


def clone_default(
    folder: pathlib.Path,
    trace: Trace,
    names: Sequence[str],
    vocabulary: pathlib.Path,
    problem: Problem,
    seed: int,
    network_config: NetworkConfig,
    config: BcConfig,
) -> Mapping[str, Any]:
    """Clones the default's decisions in modules `names` of `trace`; the weights go into `folder`.

    Returns: the figures for the manifest.
    """
    normalizer = load_normalizer(vocabulary, problem)
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
    checkpoint.save_checkpoint(folder, _RESULT, result.network.weights, figures)
    return figures


def load_warm_start(folder: pathlib.Path, vocabulary: pathlib.Path, problem: Problem) -> PolicyNetwork:
    """The network that `clone_default` has left in `folder`.

    Raises: RunError: there is none, or it is damaged.
    """
    loaded = checkpoint.load_checkpoint(folder, _RESULT)
    if loaded is None:
        raise RunError(f"warm start in {folder}", "is absent", "Delete the folder and run the same command again")
    return PolicyNetwork(load_normalizer(vocabulary, problem), loaded[0])
