"""CMA-ES on linear policies: candidates are drawn from a normal distribution that adapts to what made candidates good.

Source of the algorithm, its equations and its constants: Hansen, "The CMA Evolution Strategy: A Tutorial"
(arXiv:1604.00772).

Plain evolution strategies (es/learner.py) move thousands of weights along one noisy direction. Here the policy is
linear in the pieces of its features (normalization.py), about forty numbers for inlining, and the covariance of
successful steps is learned with it. A candidate is greedy, and all candidates of a generation are judged by the same
whole modules. No credit is assigned to single decisions, so a function may have a thousand decisions that depend on
each other.

The search space is what a whole piece of a feature adds to z. The distribution starts round, so the pieces must be of
about equal importance. Choose them with NetworkConfig.knots.
"""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from mlgo.learning.algorithms.cma_es.algorithm import CmaConfig
from mlgo.learning.fitness import fitness_of
from mlgo.learning.learner import Learner, Sample, Variant
from mlgo.learning.linear_network import (
    TOP_LOGIT,
    WHOLE_PIECE,
    linear_effect,
    linear_network,
    stated_effect,
    with_linear_form,
)
from mlgo.learning.network import PolicyNetwork
from mlgo.run.determinism import generator

#: z of the shipped policy is scaled to lie within this part of the range that a linear network can represent.
_USED_RANGE = 0.99
#: Limits of sigma; only a search that has diverged reaches them.
_SMALLEST_SIGMA, _LARGEST_SIGMA = 1e-8, 1e4


@dataclasses.dataclass
class Search:
    """The distribution of candidates in n dimensions, and its memory; the tutorial's m, sigma, C, p_c, p_sigma and g.

    Attributes:
      mean, path, sigma_path: float64 [n].
      covariance: float64 [n, n].
      generation: how many updates there were.
    """

    mean: np.ndarray
    sigma: float
    covariance: np.ndarray
    path: np.ndarray
    sigma_path: np.ndarray
    generation: int = 0

    @classmethod
    def around(cls, mean: np.ndarray, sigma: float) -> "Search":
        """A round distribution."""
        zeros = np.zeros_like(mean)
        return cls(mean, sigma, np.eye(len(mean)), zeros, zeros)

    def roots(self) -> tuple[np.ndarray, np.ndarray]:
        """(C^1/2, C^-1/2), both symmetric, so that they do not depend on the signs of eigenvectors."""
        values, vectors = np.linalg.eigh(self.covariance)
        values = np.sqrt(np.maximum(values, 1e-20))
        return (vectors * values) @ vectors.T, (vectors / values) @ vectors.T

    def updated(self, steps: np.ndarray, fitness: np.ndarray) -> "Search":
        """The distribution after a generation.

        Args:
          steps: float64 [population, n], (candidate - mean) / sigma.
          fitness: float64 [population], more is better.
        """
        size, dimensions = steps.shape
        parents = size // 2
        weights = math.log((size + 1) / 2) - np.log(np.arange(1, parents + 1))  # Equation 49, positive weights only.
        weights /= weights.sum()
        effective = 1 / np.square(weights).sum()
        # Equations 55 to 58 and table 1.
        sigma_rate = (effective + 2) / (dimensions + effective + 5)
        damping = 1 + 2 * max(0.0, math.sqrt((effective - 1) / (dimensions + 1)) - 1) + sigma_rate
        path_rate = (4 + effective / dimensions) / (dimensions + 4 + 2 * effective / dimensions)
        one_rate = 2 / ((dimensions + 1.3) ** 2 + effective)
        many_rate = min(1 - one_rate, 2 * (effective - 2 + 1 / effective) / ((dimensions + 2) ** 2 + effective))
        expected = math.sqrt(dimensions) * (1 - 1 / (4 * dimensions) + 1 / (21 * dimensions**2))

        best = steps[np.argsort(-fitness, kind="stable")[:parents]]
        step = weights @ best
        _, inverse_root = self.roots()
        sigma_path = (1 - sigma_rate) * self.sigma_path
        sigma_path = sigma_path + math.sqrt(sigma_rate * (2 - sigma_rate) * effective) * (inverse_root @ step)
        length = float(np.linalg.norm(sigma_path))
        settled = math.sqrt(1 - (1 - sigma_rate) ** (2 * (self.generation + 1)))
        steady = length / settled < (1.4 + 2 / (dimensions + 1)) * expected
        path = (1 - path_rate) * self.path
        if steady:
            path = path + math.sqrt(path_rate * (2 - path_rate) * effective) * step
        kept = 1 - one_rate - many_rate + (0 if steady else one_rate * path_rate * (2 - path_rate))
        covariance = kept * self.covariance + one_rate * np.outer(path, path) + many_rate * (best.T * weights) @ best
        sigma = self.sigma * math.exp(min(1.0, sigma_rate / damping * (length / expected - 1)))
        sigma = min(max(sigma, _SMALLEST_SIGMA), _LARGEST_SIGMA)
        return Search(
            self.mean + self.sigma * step, sigma, (covariance + covariance.T) / 2, path, sigma_path, self.generation + 1
        )


class CmaLearner(Learner):
    """CMA-ES. NumPy only. If the network to start from is linear, the search starts from it.

    Raises: RunError: the policy does not use a feature of `CmaConfig.start`.
    """

    needs_decisions = False
    needs_finite_actions = True

    @classmethod
    def network_forms(cls, start: PolicyNetwork, config) -> list[PolicyNetwork]:
        """See `Learner.network_forms`."""
        del config
        return with_linear_form(start)

    def prepare(self, network: PolicyNetwork, state: dict[str, np.ndarray]) -> None:
        self._network = network
        if not state:
            self._search = Search.around(first_mean(network, self.config), self.config.sigma)
            self._network = self._policy(self._search.mean)
        else:
            arrays = {field.name: np.asarray(state[field.name]) for field in dataclasses.fields(Search)}
            self._search = Search(**{**arrays, "sigma": float(state["sigma"]), "generation": int(state["generation"])})

    @property
    def network(self) -> PolicyNetwork:
        """The mean of the distribution."""
        return self._network

    def state(self) -> dict[str, np.ndarray]:
        """The distribution."""
        return {field.name: np.asarray(getattr(self._search, field.name)) for field in dataclasses.fields(Search)}

    def variants(self, iteration: int) -> list[Variant]:
        """The generation's candidates, greedy."""
        return [
            Variant(self._policy(self._search.mean + self._search.sigma * step), False)
            for step in self._steps(iteration)
        ]

    def update(self, iteration: int, samples: Sequence[Sample]) -> dict[str, float]:
        """See `Learner.update`; only modules that were scored under every candidate count.

        Raises: RunError: there is no such module.
        """
        config, before = self.config, self._search
        fitness, modules = fitness_of(samples, config.population, config.regression_penalty, config.project_balance)
        self._search = before.updated(self._steps(iteration), fitness)
        self._network = self._policy(self._search.mean)
        eigenvalues = np.linalg.eigvalsh(self._search.covariance)
        return {
            "modules": float(modules),
            "modules_left_out": float(len({sample.module for sample in samples}) - modules),
            "mean_improvement": float(fitness.mean()),
            "best_improvement": float(fitness.max()),
            "improvement_deviation": float(fitness.std()),
            "sigma": self._search.sigma,
            "axis_ratio": float(np.sqrt(eigenvalues[-1] / max(eigenvalues[0], 1e-20))),
            "step_norm": float(np.linalg.norm(self._search.mean - before.mean)),
        }

    def _steps(self, iteration: int) -> np.ndarray:
        """float64 [population, n]: (candidate - mean) / sigma; drawn again instead of being stored."""
        shape = (self.config.population, len(self._search.mean))
        return generator(self.seed, "cma", iteration).standard_normal(shape) @ self._search.roots()[0]

    def _policy(self, pieces: np.ndarray) -> PolicyNetwork:
        """The policy in which each piece adds its number to z, scaled where z would be cut off, which changes no
        decision.
        """
        reach = np.abs(pieces).sum()
        scaled = pieces * min(1.0, _USED_RANGE * TOP_LOGIT / max(reach, 1e-12))
        return linear_network(self._network, np.append(scaled[:-1] / WHOLE_PIECE, scaled[-1]))


def first_mean(network: PolicyNetwork, config: CmaConfig) -> np.ndarray:
    """float64 [D + 1]: what each piece adds to z, and z where all pieces are 0: of `network` where it is linear, else
    of `config`.

    Raises: RunError: a feature of `config.start` is not among those that the policy looks at.
    """
    if (effect := linear_effect(network)) is not None:
        return np.append(effect[:-1] * WHOLE_PIECE, effect[-1])
    effect = stated_effect(network.normalizer, config)
    return np.append(effect[:-1] * WHOLE_PIECE, effect[-1])
