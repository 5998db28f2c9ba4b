"""A policy as the model that the development clang runs: greedy, as it would be shipped."""

import pathlib

from mlgo.learning.network import AnyPolicy
from mlgo.problems.problem import Problem
from mlgo.run.quiet import quiet_libraries


def write_greedy_model(network: AnyPolicy, problem: Problem, work: pathlib.Path, name: str) -> pathlib.Path:
    """Writes the TFLite model of `network` below `work`, in folder `name`, and returns its path."""
    with quiet_libraries():
        # It brings TensorFlow, which compiling under the default does without.
        from mlgo.policy.collection import CollectionPolicy  # pylint: disable=import-outside-toplevel

        return CollectionPolicy(problem, work).write(network, name, exploration_seed=None)
