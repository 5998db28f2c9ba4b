"""Prints digests of what learning and evaluation compute, as JSON: for each argument, name -> sha256.

"estimates" is a digest that differs between processors.

Arguments: KIB or KIB=NAME. KIB is the size of the level 1 data cache that TensorFlow sees; 0: that of the processor.
With NAME only the digest of this name is made. Each argument has a process.
"""

import dataclasses
import functools
import hashlib
import json
import multiprocessing
import sys
from collections.abc import Callable, Mapping

import numpy as np
import tensorflow as tf

from mlgo.evaluation.statistics import summarize
from mlgo.learning.algorithm import Algorithm
from mlgo.learning.algorithms.registry import ALGORITHMS
from mlgo.learning.behavioural_cloning import Cloner
from mlgo.learning.cloning_config import BcConfig
from mlgo.learning.exact_network import exact_network
from mlgo.learning.linear_network import linear_fit
from mlgo.learning.network import NetworkConfig, PolicyNetwork, initial_network
from mlgo.learning.observations import Observations, pack
from mlgo.learning.testing import synthetic, synthetic_environments
from mlgo.run import determinism
from tests.processors.cache_sizes import pretend_cache_sizes

_OBSERVATIONS = 1024
#: More than one piece of MAX_REDUCTION_LENGTH.
_UNITS = (80, 150)
#: Those that learn from the samples of an iteration.
_LEARNERS = ("ppo", "dqn", "es", "effect_regression", "bc_max")
_ENVIRONMENTS = (
    synthetic_environments.CategoricalEnvironment(),
    synthetic_environments.BinaryEnvironment(),
    synthetic_environments.ContinuousEnvironment(),
)


def _observations(random: np.random.Generator) -> Observations:
    values = synthetic.features(random, _OBSERVATIONS)
    return pack(values, synthetic.best(values), synthetic.normalizer(), synthetic.PROBLEM)


def _initial(environment: synthetic_environments.Environment) -> PolicyNetwork:
    return initial_network(environment.normalizer, 1, NetworkConfig(fc_layer_params=_UNITS))


def _learned(algorithm: Algorithm, environment: synthetic_environments.Environment) -> Mapping[str, np.ndarray]:
    """Weights after two iterations."""
    learner = algorithm.learner_class()(_initial(environment), environment.problem, 1, algorithm.config())
    synthetic_environments.train(environment, learner, iterations=2, modules=2)
    return learner.network.weights


def _cloned(environment: synthetic_environments.Environment) -> Mapping[str, np.ndarray]:
    shown = synthetic_environments.play(environment, range(16), environment.default).observations
    cloner = Cloner(_initial(environment), BcConfig(label_smoothing=0.1), environment.problem.decision_kind, None)
    for _ in range(3):
        cloner.step(shown, 1e-3)
    return cloner.weights()


def _learning() -> dict[str, Callable[[], Mapping[str, np.ndarray]]]:
    """What learns: name -> makes its weights."""
    learners = {
        f"{name} of {environment.problem.decision_kind} decisions": functools.partial(
            _learned, ALGORITHMS[name], environment
        )
        for name in _LEARNERS
        for environment in _ENVIRONMENTS
        if environment.problem.decision_kind != "continuous"
        or not ALGORITHMS[name].learner_class().needs_finite_actions
    }
    return learners | {
        f"cloned {each.problem.decision_kind} decisions": functools.partial(_cloned, each) for each in _ENVIRONMENTS
    }


def _digests() -> dict[str, str]:
    random = determinism.generator(1, "processors")
    observations = _observations(random)
    network = initial_network(synthetic.normalizer(), 1, NetworkConfig(fc_layer_params=_UNITS))
    found = {name: learn() for name, learn in _learning().items()}
    found |= {
        "linear fit": {"": linear_fit(network, [observations])},
        # What the others compute from logarithms hides most differences in the last bit.
        "logarithms": {"": np.log(random.random(10_000))},
        "probabilities": {"": exact_network(network.weights).log_probabilities(observations)},
        "estimates": {"": _estimates()},
    }
    summary = summarize({str(module): random.uniform(0.9, 1.1, 20) for module in range(50)}, 1)
    assert summary is not None  # There are ratios.
    found["bootstrap"] = {name: np.asarray(value) for name, value in dataclasses.asdict(summary).items()}
    return {name: _digest(arrays) for name, arrays in found.items()}


def _estimates() -> np.ndarray:
    """What TensorFlow makes of the processor's estimates of 1 / x, which no result may depend on."""
    return tf.math.reciprocal(np.random.default_rng(1).random(10_000, np.float32)).numpy()


def _digest(arrays: Mapping[str, np.ndarray]) -> str:
    text = "".join(f"{name}\0{np.ascontiguousarray(arrays[name]).tobytes().hex()}\0" for name in sorted(arrays))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _digests_of(level1_kib: int, only: str) -> dict[str, str]:
    determinism.configure_tensorflow()
    if level1_kib:
        pretend_cache_sizes(level1=level1_kib, level2=256, level3=8192)
    return {only: _digest(_learning()[only]())} if only else _digests()


def _in_a_process(argument: str) -> dict[str, str]:
    """`_digests_of` in a process of its own, which need not import TensorFlow: that takes a third of the time."""
    level1_kib, _, only = argument.partition("=")
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    process = fork.Process(target=lambda: sender.send(_digests_of(int(level1_kib), only)))
    process.start()
    sender.close()  # If the process fails, the pipe ends.
    found = receiver.recv()
    process.join()
    return found


if __name__ == "__main__":
    print(json.dumps([_in_a_process(argument) for argument in sys.argv[1:]]))
