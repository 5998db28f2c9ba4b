"""CMA-ES on linear policies: candidates are drawn from a normal distribution that adapts to what made candidates good.

Source of the algorithm, its equations and its constants: Hansen, "The CMA Evolution Strategy: A Tutorial" (arXiv:1604.00772).

Plain evolution strategies (evolution.py) move thousands of weights along one noisy direction. Here the policy is linear in the
pieces of its features (normalization.py), some forty numbers for inlining, and the covariance of what worked is learned with it. A
candidate is greedy and is judged by whole modules, all candidates of a generation by the same ones: no decision needs to be credited
with anything, so it is no harm that a function has a thousand decisions which depend on each other.

The numbers searched are what a whole piece of a feature adds to z: the distribution starts round, so the pieces must
be of about equal importance. Choose them with NetworkConfig.knots.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence

import gin
import numpy as np

from mlgo.learning.evolution import fitness_of
from mlgo.learning.learner import Sample, Variant, refuse_numbers
from mlgo.learning.linear_network import TOP_LOGIT, WHOLE_PIECE, linear_effect, linear_network, stated_effect
from mlgo.learning.network import PolicyNetwork
from mlgo.problems.problem import Problem
from mlgo.run.determinism import generator

#: z of the shipped policy is scaled to lie within this part of the range in which a linear network tells values apart.
_USED_RANGE = 0.99
#: sigma leaves this range only when the search has broken down.
_SMALLEST_SIGMA, _LARGEST_SIGMA = 1e-8, 1e4


@gin.configurable
@dataclasses.dataclass(frozen=True)
class CmaConfig:
    """CMA-ES' settings. All defaults are ours where the tutorial has none.

    Attributes:
      population: candidates in a generation, each of which compiles every module of the iteration. The tutorial's default is
        4 + 3 log(dimensions), 15 for 40; more finds better optima in more compiles.
      sigma: standard deviation of the first candidates, in what a whole piece of a feature adds to z.
      start: feature -> what each of its pieces adds to z in the first mean; others add 0. Ignored where the run starts from a policy
        that is linear already.
      start_bias: z of a decision all of whose features have their smallest values, at the first mean.
      lowest_improvement, regression_penalty: as EsConfig's.
      project_balance: between 0, where a project weighs as much as its modules together, and 1, where all weigh the same. The project
        is the first folder of a module's name in a combined corpus.
    """

    population: int = 16
    sigma: float = 0.3
    start: Mapping[str, float] = dataclasses.field(default_factory=dict)
    start_bias: float = 0.0
    lowest_improvement: float = -1.0
    regression_penalty: float = 0.0
    project_balance: float = 0.5

    def __post_init__(self):
        object.__setattr__(self, "start", {str(name): float(value) for name, value in self.start.items()})
        if self.population < 4:
            raise ValueError(f"CmaConfig.population={self.population} must be at least 4")
        if not (self.sigma > 0 and self.regression_penalty >= 0 and 0 <= self.project_balance <= 1):
            raise ValueError(
                f"{self}: sigma must be positive, regression_penalty not negative, project_balance in 0..1"
            )


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


class CmaLearner:
    """A linear policy being searched; a `Learner` (learner.py). NumPy only.

    Raises: RunError: the problem's decisions are numbers, or a feature of `CmaConfig.start` is not looked at.
    """

    needs_decisions = False

    def __init__(
        self,
        network: PolicyNetwork,
        problem: Problem,
        seed: int,
        config: CmaConfig | None = None,
        state: Mapping[str, np.ndarray] | None = None,
    ):
        """Args:
        network: whose normaliser the policy sees through; if it is linear already, what the search starts from.
        seed: of the candidates.
        state: what `state()` returned together with these weights.
        """
        refuse_numbers(problem, "CMA-ES", "searches policies whose z is cut off, and these decisions are numbers")
        self.config = config or CmaConfig()
        self._seed, self._network = seed, network
        if state is None:
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
        """See `Learner.update`; only modules that compiled under every candidate count.

        Raises: RunError: there is no such module.
        """
        config, before = self.config, self._search
        fitness, modules = fitness_of(
            samples, config.population, config.lowest_improvement, config.regression_penalty, config.project_balance
        )
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
        """float64 [population, n]: (candidate - mean) / sigma, drawn again rather than kept."""
        shape = (self.config.population, len(self._search.mean))
        return generator(self._seed, "cma", iteration).standard_normal(shape) @ self._search.roots()[0]

    def _policy(self, pieces: np.ndarray) -> PolicyNetwork:
        """The policy in which each piece adds its number to z; scaled, which changes no decision, where z would be cut off."""
        reach = np.abs(pieces).sum()
        scaled = pieces * min(1.0, _USED_RANGE * TOP_LOGIT / max(reach, 1e-12))
        return linear_network(self._network, np.append(scaled[:-1] / WHOLE_PIECE, scaled[-1]))


def first_mean(network: PolicyNetwork, config: CmaConfig) -> np.ndarray:
    """float64 [D + 1]: what each piece adds to z, and z where all pieces are 0: of `network` where it is linear, else of `config`.

    Raises: RunError: a feature of `config.start` is not among those that the policy looks at.
    """
    if (effect := linear_effect(network)) is not None:
        return np.append(effect[:-1] * WHOLE_PIECE, effect[-1])
    effect = stated_effect(network.normalizer, config.start, config.start_bias, "CmaConfig.start")
    return np.append(effect[:-1] * WHOLE_PIECE, effect[-1])
