"""Made-up policies, as build steps.

    policies random --problem=inlining_for_size --seed=1 --policy=DIR   random weights, as mlgo/policy saves a policy
    policies random ... --leave_out=FEATURE                             the same, without a feature of the compiler
    policies random ... --unknown=FEATURE                               the same, with a feature that the compiler lacks
    policies threshold --policy=DIR                                     inlines calls that cost less than 5, as -Oz does
    policies tflite --problem=... --policy=DIR --model=DIR              the same decisions for a development clang

A policy with random weights takes other decisions than the default heuristic and has more near-ties than a trained one.
Tests of equality need both.
"""

import argparse
import dataclasses
import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np

from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import PolicyNetwork, initial_network
from mlgo.learning.normalization import Column, Normalizer, build_normalizer
from mlgo.policy.saved_model import save_policy
from mlgo.policy.tflite import convert
from mlgo.problems.problem import Problem, load_problem
from mlgo.problems.tensor import TensorSpec
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.quiet import quiet_libraries

#: -Oz inlines what costs less than this (OptMinSizeThreshold in llvm/lib/Analysis/InlineCost.cpp, LLVM 22.1.8).
MIN_SIZE_THRESHOLD = 5

#: Knots of the columns for decisions about one call or one live range: most counts are small, costs reach thousands and
#: are sometimes negative, spill weights are below 1 and sometimes infinite.
_KNOTS_OF_ONE = {"int64": (-40.0, 0.0, 5.0, 40.0, 1000.0), "float32": (0.0, 1e-3, 1e-2, 1e-1, 1.0)}
#: Embeddings are sums over the instructions of a function, of numbers around 0.
_KNOTS_OF_EMBEDDINGS = (-40.0, 0.0, 40.0)
#: Made-up calls on which a random inlining policy says yes and no equally often.
_BALANCE_COUNT = 1000
#: Priorities are whole multiples of 2^20 from a network whose outputs have to spread over 0 .. 2047 for that.
_NUMBER_SCALE = 500.0


def spread_normalizer(problem: Problem) -> Normalizer:
    """A normaliser for features that lie anywhere in their usual range; candidates' in [0, 1], or [0, 5] when whole."""
    if problem.decision_kind != "categorical":
        knots = {
            name: _KNOTS_OF_EMBEDDINGS if spec.name in problem.embeddings else _KNOTS_OF_ONE[spec.dtype]
            for spec in problem.observation_specs
            for name in problem.elements(spec)
        }
        columns = tuple(Column(name, *pair) for name, each in knots.items() for pair in zip(each, each[1:]))
        return Normalizer(problem.name, columns, (), mark_last_position=False)
    quantiles = {
        spec.name: np.arange(6, dtype=np.float64) if spec.dtype == "int64" else np.linspace(0.0, 1.0, 101)
        for spec in problem.observation_specs
        if spec.name != problem.mask_feature
    }
    return build_normalizer(quantiles, problem)


def random_network(normalizer: Normalizer, problem: Problem, seed: int) -> PolicyNetwork:
    """Random weights; without a mask such that all kinds of answers occur."""
    network = initial_network(normalizer, seed)
    if problem.decision_kind == "categorical":
        return network
    weights = {name: np.array(weight) for name, weight in network.weights.items()}
    output = weights["policy/logits/kernel"]
    if problem.decision_kind == "continuous":
        weights["policy/logits/kernel"] = (np.abs(output) * _NUMBER_SCALE).astype(np.float32)
        return network.with_weights(weights)
    # The first unit of the last layer is always 1, so its weight is a bias: with it z > 0 for half of the made-up
    # calls.
    weights["policy/1/kernel"][:, 0], weights["policy/1/bias"][0], output[0] = 0, 1, 0
    random = np.random.default_rng(seed)
    calls = {
        name: np.floor(random.exponential(8, _BALANCE_COUNT) * (random.random(_BALANCE_COUNT) < 0.5)).astype(np.int64)
        for name in normalizer.features
    }
    z = exact_network(weights).row_logits(normalizer.levels(calls, np.ones(_BALANCE_COUNT, bool)))
    output[0] = -np.median(z)
    return network.with_weights(weights)


def threshold_network() -> PolicyNetwork:
    """One column and one unit: z = 1 up to a cost of 4 and 0 from 5 on."""
    column = Column("cost_estimate", MIN_SIZE_THRESHOLD - 1, MIN_SIZE_THRESHOLD)
    normalizer = Normalizer("inlining_for_size", (column,), _others("cost_estimate"), mark_last_position=False)
    weights = {
        "policy/0/kernel": np.array([[-1]], np.float32),
        "policy/0/bias": np.array([1], np.float32),
        "policy/logits/kernel": np.array([[1]], np.float32),
    }
    return PolicyNetwork(normalizer, weights)


def _others(feature: str) -> tuple[str, ...]:
    return tuple(spec.name for spec in load_problem("inlining_for_size").observation_specs if spec.name != feature)


def without_feature(normalizer: Normalizer, feature: str, problem: Problem) -> Normalizer:
    """The normaliser of a policy that does not know `feature`."""
    problem.observation_spec(feature)
    return dataclasses.replace(
        normalizer,
        columns=tuple(column for column in normalizer.columns if column.feature != feature),
        dropped=tuple(name for name in normalizer.dropped if name != feature),
    )


def with_feature(problem: Problem, feature: str) -> Problem:
    """The problem of a compiler that shows one feature more, of the kind of the last one."""
    like = problem.observation_specs[-1]
    return dataclasses.replace(
        problem, observation_specs=(*problem.observation_specs, TensorSpec(feature, like.dtype, like.shape))
    )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["random", "threshold", "tflite"])
    parser.add_argument(
        "--problem", default="inlining_for_size", help="folder below mlgo/problems (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the random weights (default: %(default)s)")
    parser.add_argument("--leave_out", help="feature that the random policy does not know")
    parser.add_argument("--unknown", help="feature that the random policy wants and LLVM lacks")
    parser.add_argument("--policy", type=pathlib.Path, required=True, help="directory of the policy, written or read")
    parser.add_argument("--model", type=pathlib.Path, help="directory to write model.tflite and output_spec.json to")
    flags = parser.parse_args(arguments)
    problem = load_problem(flags.problem)
    try:
        with quiet_libraries():
            _make(flags, problem)
    except RunError as error:
        print(f"policies: {error}", file=sys.stderr)
        return error.exit_code
    return ExitCode.DONE


def _make(flags: argparse.Namespace, problem: Problem) -> None:
    if flags.what == "tflite":
        convert(flags.policy, flags.model, problem)
    elif flags.what == "threshold":
        save_policy(threshold_network(), problem, flags.policy, {"made_up": "threshold"})
    else:
        if flags.unknown:
            problem = with_feature(problem, flags.unknown)
        normalizer = spread_normalizer(problem)
        if flags.leave_out:
            normalizer = without_feature(normalizer, flags.leave_out, problem)
        network = random_network(normalizer, problem, flags.seed)
        save_policy(network, problem, flags.policy, {"made_up": "random", "seed": flags.seed})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
