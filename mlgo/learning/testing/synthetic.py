"""A small made-up problem with a known best answer, for tests: of up to five candidates take the cheapest."""

import dataclasses
from collections.abc import Mapping

import numpy as np

from mlgo.learning.network import PolicyNetwork
from mlgo.learning.normalization import Normalizer, build_normalizer
from mlgo.problems.objective import CodeSize, LoggedScore
from mlgo.problems.problem import Problem
from mlgo.problems.tensor import ITEM_BYTES, TensorSpec

POSITIONS = 5

PROBLEM = Problem(
    folder="synthetic",
    observation_specs=(
        TensorSpec("legal", "int64", (1, POSITIONS)),
        TensorSpec("cost", "float32", (1, POSITIONS)),
        TensorSpec("kind", "int64", (1, POSITIONS)),
        TensorSpec("constant", "float32", (1, POSITIONS)),
        TensorSpec("progress", "float32", (1,)),
    ),
    action_spec=TensorSpec("choice", "int64", (1,)),
    action_count=POSITIONS,
    mask_feature="legal",
    score=LoggedScore(TensorSpec("score", "float32", (1,)), "minimize"),
    advisor_flag="synthetic-advisor",
    log_flag="synthetic-log",
    model_flag="synthetic-model",
)


def binary_problem(folder: str, features: Mapping[str, str], score: LoggedScore | CodeSize = PROBLEM.score) -> Problem:
    """A yes or no. Args: features: name -> dtype of each, single values."""
    return dataclasses.replace(
        PROBLEM,
        folder=folder,
        observation_specs=tuple(TensorSpec(name, dtype, (1,)) for name, dtype in features.items()),
        score=score,
        decision_kind="binary",
        action_count=2,
        mask_feature=None,
    )


#: Depends on a feature of each type that LLVM can log.
EVERY_TYPE = binary_problem("every_type", {f"one_{dtype}": dtype for dtype in ITEM_BYTES})


def features(random: np.random.Generator, count: int) -> dict[str, np.ndarray]:
    """`count` observations; at least one candidate is legal, illegal ones hold zeros as LLVM's do."""
    legal = random.random((count, 1, POSITIONS)) < 0.7
    legal[np.arange(count), 0, random.integers(0, POSITIONS, count)] = True
    return {
        "legal": legal.astype(np.int64),
        "cost": np.where(legal, random.random(legal.shape), 0).astype(np.float32),
        "kind": np.where(legal, random.integers(0, 3, legal.shape), 0).astype(np.int64),
        "constant": np.zeros(legal.shape, np.float32),
        "progress": random.random((count, 1)).astype(np.float32),
    }


def best(values: dict[str, np.ndarray]) -> np.ndarray:
    """int64 [N], the legal position with the lowest cost."""
    return np.where(values["legal"] > 0, values["cost"], np.inf)[:, 0].argmin(axis=1)


def normalizer() -> Normalizer:
    quantiles = np.linspace(0, 1, 101)
    return build_normalizer(
        {"cost": quantiles, "kind": np.array([0.0, 1, 2]), "constant": np.zeros(3), "progress": quantiles}, PROBLEM
    )


def as_trained(network: PolicyNetwork, seed: int, scale: float = 2.0) -> PolicyNetwork:
    """The network with weights as unlike fresh ones as training makes them."""
    noise = np.random.default_rng(seed).standard_normal
    weights = {name: scale * weight + 0.05 * noise(weight.shape) for name, weight in network.weights.items()}
    return network.with_weights({name: weight.astype(np.float32) for name, weight in weights.items()})
