"""From code sizes to policies: the mean effect of a decision is learned, however few compiles make it.

A module has functions of one call each. By default no call is inlined. What inlining a call does to the code of its
caller cannot be foretold from its features, so only its mean is left to learn: the best policy inlines all or none.
"""

import unittest
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlgo.compiler.code_size import FunctionCode, ObjectCode
from mlgo.compiler.request import CompileResult
from mlgo.compiler.training_log import TrainingLog
from mlgo.learning.algorithms.dqn.algorithm import DqnConfig
from mlgo.learning.algorithms.dqn.learner import DqnLearner
from mlgo.learning.algorithms.effect_regression.algorithm import EffectConfig
from mlgo.learning.algorithms.effect_regression.learner import EffectLearner
from mlgo.learning.algorithms.es.algorithm import EsConfig
from mlgo.learning.algorithms.es.learner import EsLearner
from mlgo.learning.algorithms.ppo.algorithm import PpoConfig
from mlgo.learning.algorithms.ppo.learner import PpoLearner
from mlgo.learning.exact_network import exact_network
from mlgo.learning.learner import Learner, Sample, Variant
from mlgo.learning.network import AnyPolicy, NetworkConfig, PolicyNetwork, initial_network
from mlgo.learning.normalization import build_normalizer
from mlgo.learning.observations import pack
from mlgo.learning.testing.synthetic import binary_problem
from mlgo.problems.objective import CodeSize
from mlgo.run import determinism
from mlgo.score.code_size import code_scores
from mlgo.trace.outcomes import ModuleRecord, Outcome
from mlgo.training.collection import Scoring

setUpModule = determinism.configure_tensorflow

PROBLEM = binary_problem("calls", {"cost": "int64", "uses": "int64"}, CodeSize())
COSTS, USES = np.arange(0.0, 101.0, 10.0), np.array([1.0, 2.0, 3.0])
NORMALIZER = build_normalizer({"cost": COSTS, "uses": USES}, PROBLEM)
FUNCTIONS, MODULES, ITERATIONS = 60, 8, 20
#: Code of a caller without any inlining, in bytes: more than any effect saves.
CALLER_BYTES = 10_000

#: (share of the calls, bytes that inlining one of them saves); less than 0: it costs bytes.
Effects = Sequence[tuple[float, int]]


#: 72 bytes saved half of the time, 88 lost the other half: inlining costs 8 bytes in the mean.
EVEN: Effects = ((0.5, 72), (0.5, -88))
#: Inlining saves a little nearly always, and costs 5.8 bytes in the mean.
RARE: Effects = ((0.9, 8), (0.1, -130))


def negated(effects: Effects) -> Effects:
    return [(share, -saved) for share, saved in effects]


class MadeUpModules:
    """Other ones in every iteration, with the same effects."""

    def __init__(self, effects: Effects):
        shares, saved = zip(*effects)
        self._effects = np.repeat(saved, np.round(np.array(shares) * FUNCTIONS).astype(int))

    def train(self, learner: Learner, iterations: int) -> None:
        for iteration in range(iterations):
            variants = learner.variants(iteration)
            samples = [s for number in range(MODULES) for s in self._samples(variants, iteration, number)]
            learner.update(iteration, samples)

    def _samples(self, variants: Sequence[Variant], iteration: int, number: int) -> list[Sample]:
        """Of one module under all variants."""
        random = determinism.generator(iteration, "made-up module", number)
        features, saved = random_features(random), random.permutation(self._effects)

        def compiled(inlined: np.ndarray) -> CompileResult:
            sizes = (CALLER_BYTES - inlined * saved).tolist()
            code = ObjectCode(tuple(FunctionCode(f"f{i}", size, None) for i, size in enumerate(sizes)), 0, sum(sizes))
            contexts, places = [f"f{i}\ncallee" for i in range(FUNCTIONS)], np.arange(FUNCTIONS, dtype=np.int32)
            outcomes = np.full(FUNCTIONS, np.nan, np.float32)
            log = TrainingLog(contexts, places, features, inlined[:, None], outcomes, {})
            return CompileResult("m", log, None, 0.0, estimated_code=code)

        by_default = compiled(np.zeros(FUNCTIONS, np.int64))
        default = ModuleRecord(Outcome.TRACED, None, code_scores(by_default.code, by_default.log))
        results = []
        for variant in variants:
            noise = random.logistic(size=FUNCTIONS) * variant.exploring
            results.append(compiled((logits_of(variant.network, features) + noise > 0).astype(np.int64)))
        scoring = Scoring(PROBLEM, {f"m{number}": default}, "")
        return scoring.samples(f"m{number}", list(enumerate(results)), NORMALIZER)


def random_features(random: np.random.Generator) -> dict[str, np.ndarray]:
    return {name: random.choice(of, (FUNCTIONS, 1)).astype(np.int64) for name, of in (("cost", COSTS), ("uses", USES))}


def logits_of(network: AnyPolicy, features: Mapping[str, np.ndarray]) -> np.ndarray:
    assert isinstance(network, PolicyNetwork)
    packed = pack(features, np.zeros(FUNCTIONS), NORMALIZER, PROBLEM, np.arange(FUNCTIONS))
    return exact_network(network.weights).row_logits(packed.levels)


def inlined_share(network: AnyPolicy) -> float:
    """The share of calls that are inlined when decisions are drawn from `network`."""
    logits = logits_of(network, random_features(determinism.generator(0, "share")))
    return float(np.mean(1 / (1 + np.exp(-logits))))


class MeanEffectTest(unittest.TestCase):
    def assert_sign_is_learned(self, algorithm: type[Learner], config: Any) -> None:
        """What saves code in the mean is inlined, and what costs code is not."""
        for effects, inlined in ((EVEN, False), (RARE, False), (negated(RARE), True)):
            learner = algorithm(initial_network(NORMALIZER, 1, NetworkConfig((16, 8), (8,))), PROBLEM, 1, config)
            MadeUpModules(effects).train(learner, ITERATIONS)
            share = inlined_share(learner.variants(ITERATIONS)[0].network)
            self.assertLess(1 - share if inlined else share, 0.4, effects)

    def test_ppo(self):
        self.assert_sign_is_learned(PpoLearner, PpoConfig(learning_rate=3e-3, highest_kl=0.1))

    def test_dqn(self):
        self.assert_sign_is_learned(DqnLearner, DqnConfig(learning_rate=3e-3, temperature_decay=0.8))

    def test_effect_regression_that_does_not_weigh_by_noise(self):
        config = EffectConfig(exploration=0.2, weigh_by_noise=False, outlier=1e6)
        self.assert_sign_is_learned(EffectLearner, config)

    def test_evolution_strategies(self):
        self.assert_sign_is_learned(EsLearner, EsConfig(learning_rate=0.1))
