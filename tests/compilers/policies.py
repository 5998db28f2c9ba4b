"""Policies for the tests of the compilers, as build steps.

    policies random --seed=1 --policy=DIR      a policy with random weights, as mlgo/policy saves it
    policies tflite --policy=DIR --model=DIR   the same decisions for a development clang

A policy with random weights takes other decisions than the default heuristic and comes close to ties more often than a trained
one, which is what a test of equality wants.
"""

import argparse
import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np

from mlgo.learning.network import initial_network
from mlgo.learning.normalization import Normalizer, build_normalizer
from mlgo.policy.saved_model import save_policy
from mlgo.policy.tflite import convert
from mlgo.problems.problem import Problem, load_problem

_PROBLEM = "regalloc_eviction"


def spread_normalizer(problem: Problem) -> Normalizer:
    """A normaliser for features that lie anywhere between 0 and 1, or between 0 and 5 when whole."""
    quantiles = {
        spec.name: np.arange(6, dtype=np.float64) if spec.dtype == "int64" else np.linspace(0.0, 1.0, 101)
        for spec in problem.observation_specs
        if spec.name != problem.mask_feature
    }
    return build_normalizer(quantiles, problem)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["random", "tflite"])
    parser.add_argument("--seed", type=int, default=0, help="seed of the random weights (default: %(default)s)")
    parser.add_argument("--policy", type=pathlib.Path, required=True, help="directory of the policy, written or read")
    parser.add_argument("--model", type=pathlib.Path, help="directory to write model.tflite and output_spec.json to")
    flags = parser.parse_args(arguments)
    problem = load_problem(_PROBLEM)
    if flags.what == "random":
        save_policy(initial_network(spread_normalizer(problem), flags.seed), problem, flags.policy)
    else:
        convert(flags.policy, flags.model, problem)


if __name__ == "__main__":
    main(sys.argv[1:])
