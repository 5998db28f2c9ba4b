"""Prints digests of what learning and evaluation compute, as JSON: name -> sha256.

Argument: the size of the level 1 data cache that TensorFlow sees, in KiB; none: that of the processor.
"""

import dataclasses
import hashlib
import json
import sys
from collections.abc import Mapping

import numpy as np

from mlgo.evaluation.statistics import summarize
from mlgo.learning.algorithms.cma_es.learner import Search
from mlgo.learning.algorithms.ppo.algorithm import PpoConfig
from mlgo.learning.algorithms.ppo.learner import PpoLearner, TrainingBatch
from mlgo.learning.behavioural_cloning import Cloner
from mlgo.learning.cloning_config import BcConfig
from mlgo.learning.exact_network import exact_network
from mlgo.learning.linear_learner import linear_fit
from mlgo.learning.network import NetworkConfig, PolicyNetwork, initial_network
from mlgo.learning.observations import Observations, pack
from mlgo.learning.testing import synthetic
from mlgo.run import determinism
from tests.processors.cache_sizes import pretend_cache_sizes

_OBSERVATIONS = 1024
#: More than one piece of LONGEST_SUM.
_UNITS = (80, 150)


def _observations(random: np.random.Generator) -> Observations:
    values = synthetic.features(random, _OBSERVATIONS)
    return pack(values, synthetic.best(values), synthetic.normalizer(), synthetic.PROBLEM)


def _ppo(network: PolicyNetwork, observations: Observations, random: np.random.Generator) -> Mapping[str, np.ndarray]:
    learner = PpoLearner(network, synthetic.PROBLEM, 1, PpoConfig(highest_kl=1e9))
    learner.learn(TrainingBatch(observations, random.normal(0, 0.05, len(observations)).astype(np.float32)))
    return learner.network.weights


def _cloned(network: PolicyNetwork, observations: Observations) -> Mapping[str, np.ndarray]:
    cloner = Cloner(network, BcConfig(), observations.kind, None)
    for _ in range(3):
        cloner.step(observations, 1e-3)
    return cloner.weights()


def _cma_es(random: np.random.Generator) -> Mapping[str, np.ndarray]:
    search = Search.around(np.zeros(40), 0.5)
    for _ in range(5):
        search = search.updated(random.normal(size=(24, 40)), random.normal(size=24))
    return {name: np.asarray(value) for name, value in dataclasses.asdict(search).items()}


def _digests() -> dict[str, str]:
    random = determinism.generator(1, "processors")
    observations = _observations(random)
    network = initial_network(synthetic.normalizer(), 1, NetworkConfig(fc_layer_params=_UNITS))
    found = {
        "ppo": _ppo(network, observations, random),
        "behavioural cloning": _cloned(network, observations),
        "linear fit": {"": linear_fit(network, [observations])},
        "cma-es": _cma_es(random),
        # What the others compute from logarithms hides most differences in the last bit.
        "logarithms": {"": np.log(random.random(10_000))},
        "probabilities": {"": exact_network(network.weights).log_probabilities(observations)},
        "bootstrap": {
            name: np.asarray(value)
            for name, value in dataclasses.asdict(
                summarize({str(module): random.uniform(0.9, 1.1, 20) for module in range(50)}, 1)
            ).items()
        },
    }
    return {name: _digest(arrays) for name, arrays in found.items()}


def _digest(arrays: Mapping[str, np.ndarray]) -> str:
    text = "".join(f"{name}\0{np.ascontiguousarray(arrays[name]).tobytes().hex()}\0" for name in sorted(arrays))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


if __name__ == "__main__":
    determinism.configure_tensorflow()
    if sys.argv[1:]:
        pretend_cache_sizes(level1=int(sys.argv[1]), level2=256, level3=8192)
    print(json.dumps(_digests()))
