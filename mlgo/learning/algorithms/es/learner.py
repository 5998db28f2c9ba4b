"""Evolution strategies: the policy follows the ranks of randomly changed copies of itself (Salimans et al.,
arXiv:1703.03864).

The MLGO paper (arXiv:2101.04808) uses it besides policy gradients and reports about the same results for inlining, with
more compiles and without any log. A candidate is a greedy policy, which is the shipped one, and its fitness is the
improvement of whole modules: no credit is assigned to single decisions.

One iteration is one generation: pairs theta + sigma e and theta - sigma e (antithetic, section 2.1 there), all of them
on the same modules; theta moves along sum(shaped rank x e), by Adam or a plain step.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from mlgo.learning.learner import Learner, Sample, Variant
from mlgo.learning.network import PolicyNetwork, layer_arrays
from mlgo.learning.returns import fitness_of
from mlgo.run.determinism import generator

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8


class EsLearner(Learner):
    """Evolution strategies. NumPy only. The value network, if any, stays as it is."""

    needs_decisions = False

    def prepare(self, network: PolicyNetwork, state: dict[str, np.ndarray]) -> None:
        self._network = network
        self._names = trained_names(network.weights, self.config.last_layers)
        theta = self._flat(network.weights)
        state = state or {"step": np.int64(0), "m": np.zeros_like(theta), "v": np.zeros_like(theta)}
        if set(state) != {"step", "m", "v"} or np.shape(state["m"]) != theta.shape:
            raise ValueError(f"evolution state has {sorted(state)}, expected m, v ({theta.shape}) and step")
        self._step, self._first, self._second = int(state["step"]), state["m"], state["v"]

    @property
    def network(self) -> PolicyNetwork:
        return self._network

    def state(self) -> dict[str, np.ndarray]:
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
        """See `Learner.update`. Only modules that were scored under every candidate count."""
        config = self.config
        fitness, modules = fitness_of(samples, 2 * config.pairs, config.regression_penalty)
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
        """float64, a normal number for each weight that is trained; drawn again instead of being stored."""
        return generator(self.seed, "evolution", iteration, pair).standard_normal(self._first.shape)

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
    """The names of the weights in the policy's last layers, in the order of the layers; None: in all layers. Raises:
    ValueError: there are fewer layers.
    """
    hidden = range(len(layer_arrays(weights, "policy")))
    layers = [*([f"policy/{index}/kernel", f"policy/{index}/bias"] for index in hidden), ["policy/logits/kernel"]]
    if last_layers is not None and last_layers > len(layers):
        raise ValueError(f"last_layers={last_layers} of a network with {len(layers)}")
    return [name for layer in layers[-(last_layers or len(layers)) :] for name in layer]


def centred_ranks(fitness: np.ndarray) -> np.ndarray:
    """float64, same shape, in -0.5 .. 0.5 with mean 0: the lowest is -0.5, equal values share the mean of their ranks.

    Source: arXiv:1703.03864, section 2.1 (fitness shaping): an outlier has no more influence than its rank.
    """
    values, place, counts = np.unique(fitness, return_inverse=True, return_counts=True)
    if len(values) == 1:
        return np.zeros(fitness.shape)
    mean_rank = np.cumsum(counts) - (counts + 1) / 2.0
    return mean_rank[place] / (len(fitness) - 1) - 0.5
