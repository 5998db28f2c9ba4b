"""Evolution strategies: the policy follows the ranks of randomly changed copies of itself (Salimans et al., arXiv:1703.03864).

This is the other algorithm of the MLGO paper (arXiv:2101.04808), which reports about the same inlining for it as for policy
gradients, with more compiles and without any log: a candidate is a greedy policy, and all that is known of it is how much
smaller or better whole modules became. So what is optimised is what is shipped, decisions need not be told apart, and it
makes no difference how a decision affects later ones.

One iteration is one generation: pairs theta + sigma e and theta - sigma e (antithetic, section 2.1 there), all of them on the
same modules; theta moves along sum(shaped rank x e), by Adam or a plain step.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Literal

import gin
import numpy as np

from mlgo.learning.learner import Sample, Variant, balance_of
from mlgo.learning.network import PolicyNetwork, layer_arrays
from mlgo.problems.problem import Problem
from mlgo.run.determinism import generator
from mlgo.run.exit_codes import ExitCode, RunError

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8


@gin.configurable
@dataclasses.dataclass(frozen=True)
class EsConfig:
    """Evolution strategies' settings. "mlco": ml-compiler-opt, compiler_opt/es/inlining/gin_configs/blackbox_learner.gin.

    Attributes:
      pairs: antithetic pairs in a generation; twice as many compiles of each module. Ours, for two cores; mlco: 100
        perturbations, arXiv:1703.03864: 720 to 1,440 workers.
      sigma: standard deviation of the changes to every weight. Ours: a search over inlining policies on 379 modules needed
        0.07, and 0.25 blew up; mlco: 0.5, of weights behind other inputs.
      learning_rate: Adam's step, or the factor of a plain one. Ours, for tens of generations from a warm start: a step
        changes weights by a fraction of sigma; mlco: 0.5 at its sigma of 0.5.
      optimizer: "adam" (mlco, arXiv:1703.03864) or "plain": learning_rate x estimated gradient.
      l2: decay of the weights per step, as a part of the learning rate: theta -= learning_rate * l2 * theta
        (arXiv:1703.03864, section 2.1 and its published code, where it is 0.005).
      last_layers: how many layers, counted from the logits, are changed; None: all of them. Ours; the fewer weights, the
        fewer generations, and the less can be found.
      lowest_improvement: a module's improvement below this counts as this; as PpoConfig.lowest_return.
      regression_penalty: what a module's loss counts more than an equal gain: improvements below 0 are multiplied by
        1 + this. Ours: 0. Policies trained for the mean alone made some small programs larger.
    """

    pairs: int = 8
    sigma: float = 0.07
    learning_rate: float = 0.02
    optimizer: Literal["adam", "plain"] = "adam"
    l2: float = 0.005
    last_layers: int | None = None
    lowest_improvement: float = -1.0
    regression_penalty: float = 0.0

    def __post_init__(self):
        if self.pairs < 1 or (self.last_layers is not None and self.last_layers < 1):
            raise ValueError(f"EsConfig: pairs={self.pairs} and last_layers={self.last_layers} must be at least 1")
        if not (self.sigma > 0 and self.learning_rate > 0 and self.l2 >= 0 and self.regression_penalty >= 0):
            raise ValueError(
                f"{self}: sigma and learning_rate must be positive, l2 and regression_penalty not negative"
            )
        if self.optimizer not in ("adam", "plain"):
            raise ValueError(f"EsConfig.optimizer={self.optimizer!r} is neither adam nor plain")


class EsLearner:
    """A policy being trained by evolution strategies; a `Learner` (learner.py). NumPy only."""

    needs_decisions = False

    def __init__(
        self,
        network: PolicyNetwork,
        problem: Problem,
        seed: int,
        config: EsConfig | None = None,
        state: Mapping[str, np.ndarray] | None = None,
    ):
        """Args:
        network: the weights to start from; its value network, if any, stays as it is.
        problem: not looked at: a candidate is greedy whatever is decided.
        seed: of the changes.
        state: what `state()` returned together with these weights.
        """
        del problem
        self.config = config or EsConfig()
        self._seed = seed
        self._network = network
        self._names = trained_names(network.weights, self.config.last_layers)
        theta = self._flat(network.weights)
        state = dict(state or {"step": np.int64(0), "m": np.zeros_like(theta), "v": np.zeros_like(theta)})
        if set(state) != {"step", "m", "v"} or np.shape(state["m"]) != theta.shape:
            raise ValueError(f"evolution state has {sorted(state)}, expected m, v ({theta.shape}) and step")
        self._step, self._first, self._second = int(state["step"]), state["m"], state["v"]

    @property
    def network(self) -> PolicyNetwork:
        """The centre of the population."""
        return self._network

    def state(self) -> dict[str, np.ndarray]:
        """Adam's."""
        return {"step": np.array(self._step, np.int64), "m": self._first, "v": self._second}

    def variants(self, iteration: int) -> list[Variant]:
        """theta + sigma e, theta - sigma e for each pair, greedy."""
        theta = self._flat(self._network.weights)
        networks = []
        for pair in range(self.config.pairs):
            change = self.config.sigma * self._change(iteration, pair)
            networks += [self._with(theta + change), self._with(theta - change)]
        return [Variant(network, exploring=False) for network in networks]

    def update(self, iteration: int, samples: Sequence[Sample]) -> dict[str, float]:
        """See `Learner.update`. Only modules that compiled under every candidate count: a candidate must not gain by
        failing where it is bad.

        Raises: RunError: there is no such module.
        """
        config = self.config
        fitness, modules = fitness_of(samples, 2 * config.pairs, config.lowest_improvement, config.regression_penalty)
        shaped = centred_ranks(fitness)
        difference = shaped[0::2] - shaped[1::2]
        gradient = np.zeros_like(self._first)
        for pair in range(config.pairs):
            gradient += difference[pair] * self._change(iteration, pair)
        gradient /= 2 * config.pairs * config.sigma
        theta = self._flat(self._network.weights)
        moved = self._moved(gradient) - config.learning_rate * config.l2 * theta
        self._network = self._with(theta + moved)
        return {
            "modules": float(modules),
            "modules_left_out": float(len({sample.module for sample in samples}) - modules),
            "mean_improvement": float(fitness.mean()),
            "best_improvement": float(fitness.max()),
            "improvement_deviation": float(fitness.std()),
            "pair_difference": float(np.abs(fitness[0::2] - fitness[1::2]).mean()),
            "gradient_norm": float(np.linalg.norm(gradient)),
            "step_norm": float(np.linalg.norm(moved)),
            "weight_norm": float(np.linalg.norm(theta)),
        }

    def _moved(self, gradient: np.ndarray) -> np.ndarray:
        """The step along `gradient`, float64."""
        self._step += 1
        rate = self.config.learning_rate
        if self.config.optimizer == "plain":
            return rate * gradient
        self._first = _BETA1 * self._first + (1 - _BETA1) * gradient
        self._second = _BETA2 * self._second + (1 - _BETA2) * gradient**2
        first = self._first / (1 - _BETA1**self._step)
        second = self._second / (1 - _BETA2**self._step)
        return rate * first / (np.sqrt(second) + _EPSILON)

    def _change(self, iteration: int, pair: int) -> np.ndarray:
        """float64, one normal number for each weight that is trained: drawn again rather than kept."""
        return generator(self._seed, "evolution", iteration, pair).standard_normal(self._first.shape)

    def _flat(self, weights: Mapping[str, np.ndarray]) -> np.ndarray:
        return np.concatenate([np.asarray(weights[name], np.float64).reshape(-1) for name in self._names])

    def _with(self, flat: np.ndarray) -> PolicyNetwork:
        weights, begin = dict(self._network.weights), 0
        for name in self._names:
            end = begin + weights[name].size
            weights[name] = flat[begin:end].reshape(weights[name].shape).astype(np.float32)
            begin = end
        return self._network.with_weights(weights)


def trained_names(weights: Mapping[str, np.ndarray], last_layers: int | None) -> list[str]:
    """The names of the policy's last layers, in the order of the layers; None: of all.

    Raises: ValueError: there are fewer layers.
    """
    hidden = [
        [f"policy/{index}/kernel", f"policy/{index}/bias"] for index in range(len(layer_arrays(weights, "policy")))
    ]
    layers = [*hidden, ["policy/logits/kernel"]]
    if last_layers is not None and last_layers > len(layers):
        raise ValueError(f"last_layers={last_layers} of a network with {len(layers)}")
    return [name for layer in layers[-(last_layers or len(layers)) :] for name in layer]


def fitness_of(
    samples: Sequence[Sample], candidates: int, lowest: float, regression_penalty: float, project_balance: float = 0.0
) -> tuple[np.ndarray, int]:
    """(float64 [candidates], number of modules): each candidate's weighted mean improvement over the modules that compiled
    under all candidates. `project_balance` as balance_of's.

    Raises: RunError: there is no such module.
    """
    by_module: dict[str, dict[int, Sample]] = {}
    for sample in samples:
        by_module.setdefault(sample.module, {})[sample.variant] = sample
    complete = [by_variant for by_variant in by_module.values() if len(by_variant) == candidates]
    if not complete:
        raise RunError(
            f"a generation of {candidates} candidates",
            f"none of {len(by_module)} modules was compiled and scored under all of them",
            "Use more modules in an iteration, or look why compiles fail",
            ExitCode.NOTHING_PRODUCED,
        )
    improvements = np.array([[each[index].improvement for index in range(candidates)] for each in complete])
    weights = np.array([[each[index].weight for index in range(candidates)] for each in complete])
    weights *= balance_of([each[0].module for each in complete], weights[:, 0], project_balance)[:, None]
    improvements = np.maximum(improvements, lowest)
    improvements = np.where(improvements < 0, (1 + regression_penalty) * improvements, improvements)
    return (improvements * weights).sum(axis=0) / weights.sum(axis=0), len(complete)


def centred_ranks(fitness: np.ndarray) -> np.ndarray:
    """float64, same shape, in -0.5 .. 0.5 with mean 0: the lowest is -0.5, equals share the mean of their ranks.

    Source: arXiv:1703.03864, section 2.1 (fitness shaping): outliers count as much as the next best.
    """
    values, place, counts = np.unique(fitness, return_inverse=True, return_counts=True)
    if len(values) == 1:
        return np.zeros(fitness.shape)
    mean_rank = np.cumsum(counts) - (counts + 1) / 2.0
    return mean_rank[place] / (len(fitness) - 1) - 0.5
