"""Model directories for one training run: written before a module is compiled, removed after it."""

import hashlib
import os
import pathlib
import shutil

from mlgo.learning.exact_network import ExactNetwork, exact_network
from mlgo.learning.network import AnyPolicy, ConvertedPolicy, PolicyNetwork, deviation_of
from mlgo.policy.tflite import TfliteTemplate, layer_sizes_of, write_model
from mlgo.problems.problem import Problem
from mlgo.run.quiet import quiet_libraries

#: Variants of an iteration take turns: each is rounded once per iteration, not once per module.
_NETWORKS_KEPT = 256


class CollectionPolicy:
    """Writes the current policy for the compiler, once per module, each with a separate seed.

    The conversion happens once for each shape of network, drawing and greedy: after that a model takes a millisecond.
    """

    def __init__(self, problem: Problem, folder: str | os.PathLike[str]):
        """`folder` is for scratch; a module's directory below it lives from `write` to `remove`."""
        self._problem = problem
        self._folder = pathlib.Path(folder)
        self._templates: dict[tuple[str, tuple[int, ...], bool], TfliteTemplate] = {}
        # By identity; the network is kept so that its identity stays its own.
        self._exact: dict[int, tuple[PolicyNetwork, ExactNetwork]] = {}

    def write(self, network: AnyPolicy, name: str, exploration_seed: int | None) -> pathlib.Path:
        """The directory to give to the compiler as its model.

        Args:
          name: names the directory; it may contain slashes, as module names do.
          network: the weights; the deviation of a number's noise may be among them (mlgo/learning/network.py).
          exploration_seed: decisions are drawn from the policy with this seed; None: greedy.

        Raises: ValueError: a seed for a policy of another trainer, which is greedy as it was saved.
        """
        if isinstance(network, ConvertedPolicy):
            if exploration_seed is not None:
                raise ValueError("a policy of another trainer cannot explore")
            return write_model(self._directory(name), self._problem, network.model, temporary=True)
        exploring = exploration_seed is not None
        if id(network) not in self._exact:
            if len(self._exact) >= _NETWORKS_KEPT:
                self._exact.clear()
            self._exact[id(network)] = (network, exact_network(network.weights))
        key = (network.normalizer.digest, layer_sizes_of(self._exact[id(network)][1]), exploring)
        if key not in self._templates:
            with quiet_libraries():
                self._templates[key] = TfliteTemplate(network, self._problem, exploring)
        model = self._templates[key].model(self._exact[id(network)][1], exploration_seed, deviation_of(network))
        return write_model(self._directory(name), self._problem, model, temporary=True)

    def remove(self, name: str) -> None:
        """Deletes what `write` made for `name`; does nothing if there is none."""
        shutil.rmtree(self._directory(name), ignore_errors=True)

    def forget_networks(self) -> None:
        """Drops the rounded weights of networks written so far: an iteration has new ones."""
        self._exact.clear()

    def _directory(self, name: str) -> pathlib.Path:
        # One folder level, whatever the name, and no longer name than file systems allow.
        return self._folder / hashlib.sha256(os.fsencode(name)).hexdigest()
