"""Effect regression: the effect of each decision is regressed on the features it was taken from, function by function.

The return of a function is the sum of the effects of its decisions, and noise. Let x(d) be the features (levels) of the
row that decision d took, and E x(d) their expectation under the policy that was drawn from. For every function f and
sample s,

    return(f, s) - mean of f's return over the other samples  =  sum over d of (x(d) - E x(d)) . effect  +  noise

Each difference x - E x is due to chance and has mean 0 whatever came before, so a decision is not credited with later
decisions that it made possible. A regression on x alone, at -Oz, took inlining getters for harmful, because functions
that had inlined a large callee contained many of them. The solution is the natural policy gradient of a linear policy
(Kakade, "A natural policy gradient", 2001, with the compatible features of Sutton et al., 1999), by weighted least
squares instead of many small steps: a function with a noisy return counts less, and outliers count linearly (Huber,
1964).

The policy is linear in the levels: piecewise linear in every feature, without interactions. On inlining, networks with
a hidden layer explained less of functions they had not seen.

An effect is measured among the other decisions as they are: at an exploration rate of 15 % it differed in sign from the
effect near the greedy policy. Logits are scaled to give the rate `EffectConfig.exploration`.
"""

import collections
import dataclasses
from collections.abc import Sequence

import numpy as np

from mlgo.learning.exact_network import exact_network
from mlgo.learning.learner import Learner, Sample, Variant
from mlgo.learning.linear_network import (
    bias_below_threshold,
    configured_weights,
    fit_weights,
    linear_effect,
    linear_fit,
    linear_network,
    linear_rows,
)
from mlgo.learning.network import PolicyNetwork
from mlgo.learning.observations import Observations
from mlgo.learning.returns import by_module, centred, nothing_learned

#: Rounds of reweighting towards Huber's loss; more change nothing in the third digit.
_ROUNDS = 3


@dataclasses.dataclass(frozen=True)
class EffectBatch:
    """The equations of one iteration, one per function and sample."""

    #: float64 [G, D + 1], sum of x - E x over the function's decisions, the last column for a constant.
    differences: np.ndarray
    returns: np.ndarray  #: float64 [G], centred.
    weights: np.ndarray  #: float64 [G], one over the variance expected of the return's noise, balanced (`_balance_of`).
    variance: float  #: of the noise of a function's return: the median of the functions.
    exploration_rate: float  #: the share of decisions that are not the greedy policy's.


class EffectLearner(Learner):
    """Effect regression. The first policy explored is `EffectConfig.start`, or without it the network to start from;
    `EffectConfig.preferred_below` is added to it.
    """

    needs_finite_actions = True

    @classmethod
    def network_forms(cls, start: PolicyNetwork) -> list[PolicyNetwork]:
        """`start`, and a linear policy that takes its place."""
        return [start, linear_network(start, np.zeros(start.normalizer.width + 1))]

    def prepare(self, network: PolicyNetwork, state: dict[str, np.ndarray]) -> None:
        config, self._network = self.config, network
        preferred = config.preferred_below
        self._preference = bias_below_threshold(network.normalizer, preferred, "EffectConfig.preferred_below")
        if not state and config.start:
            self._network = linear_network(network, configured_weights(network.normalizer, config))
            self._network = self._with_preference(1.0)
        width = network.normalizer.width + 1
        self.updates = int(state.get("updates", 0))
        self._start, self._effect, self._moment = (
            np.array(state.get(name, np.zeros(width)), np.float64) for name in ("start", "effect", "moment")
        )
        self._information = np.array(state.get("information", np.zeros((width, width))), np.float64)

    @property
    def network(self) -> PolicyNetwork:
        return self._network

    def state(self) -> dict[str, np.ndarray]:
        """Start and effects, float64 [D + 1], the weighted equations of all iterations, the number of updates."""
        return {
            "updates": np.array(self.updates, np.int64),
            "start": self._start,
            "effect": self._effect,
            "information": self._information,
            "moment": self._moment,
        }

    def variants(self, iteration: int) -> list[Variant]:
        return [Variant(self._network, exploring=True)] * self.config.samples_per_module

    def update(self, iteration: int, samples: Sequence[Sample]) -> dict[str, float]:
        config = self.config
        batch = effect_batch(samples, self._network, config.weigh_by_noise)
        seen = [sample.observations for sample in samples if sample.observations is not None]
        estimate, explained = self._regress(batch.differences, batch.returns, batch.weights, batch.variance)
        if self.updates:
            target, step = config.prior * self._start + estimate, config.step
        else:
            before = self._with_preference(-1.0)
            self._start = linear_fit(before, seen)
            target, step = config.prior * self._start + estimate, config.first_step
            known = fit_weights(before, seen)
            # In the unit of the target: both are certain where they explore equally often.
            scales = [scale_for(each, seen, config.exploration, self._preference) for each in (known, target)]
            self._effect = known * (scales[0] / scales[1])
        self._effect = (1 - step) * self._effect + step * target
        scale = scale_for(self._effect, seen, config.exploration, self._preference)
        self._network = linear_network(self._network, scale * self._effect + self._preference)
        self.updates += 1
        return {
            "decisions": float(sum(len(each) for each in seen)),
            "equations": float(len(batch.returns)),
            "return_deviation": float(batch.returns.std()),
            "explained_variance": explained,
            "exploration_rate": batch.exploration_rate,
            "largest_effect": float(np.abs(estimate).max()),
            "scale": scale,
        }

    def _regress(self, x: np.ndarray, y: np.ndarray, weights: np.ndarray, variance: float) -> tuple[np.ndarray, float]:
        """Adds the equations y = x . effect + noise to those of earlier iterations, and solves all.

        Args: x: float64 [E, D + 1]; y: float64 [E]; weights: float64 [E], > 0; variance: of the noise of a usual
          equation, the unit of `config.effect_deviation`.
        Returns: (the effect, float64 [D + 1]; the part of the weighted variance of these y that it explains).
        """
        config = self.config
        ridge = 1.0 / (config.effect_deviation**2 * variance)
        estimate = np.zeros(x.shape[1])
        for _ in range(_ROUNDS):
            residual = np.abs(y - x @ estimate) * np.sqrt(weights)
            robust = weights * np.minimum(1.0, config.outlier / np.maximum(residual, 1e-12))
            information = config.decay * self._information + x.T @ (x * robust[:, None])
            moment = config.decay * self._moment + x.T @ (y * robust)
            estimate = np.linalg.solve(information + ridge * np.eye(len(information)), moment)
        self._information, self._moment = information, moment
        left = weights @ np.square(y - x @ estimate)
        return estimate, float(1.0 - left / max(float(weights @ np.square(y)), 1e-12))

    def _with_preference(self, times: float) -> PolicyNetwork:
        """The current policy with `times` the preference added to its logits; as it is where it is not linear."""
        effect = linear_effect(self._network) if self._preference.any() else None
        return self._network if effect is None else linear_network(self._network, effect + times * self._preference)


def effect_batch(samples: Sequence[Sample], behaviour: PolicyNetwork, weigh_by_noise: bool = True) -> EffectBatch:
    """The equations of `samples`, whose decisions were drawn from `behaviour`; `weigh_by_noise` as EffectConfig's.
    Raises: RunError: no function was compiled twice with a score.
    """
    exact = exact_network(behaviour.weights)
    differences, returns, noise, counts, names, explored, decisions = [], [], [], [], [], 0, 0
    for of_module in by_module(samples).values():
        values = centred([sample.credits for sample in of_module])
        squares: dict[str, list[float]] = collections.defaultdict(list)
        for each in values:
            for name, value in each.items():
                squares[name].append(value * value)
        for sample, each in zip(of_module, values, strict=True):
            if sample.observations is None or not len(sample.observations):
                continue
            residuals, unlikely = feature_residuals(sample.observations, exact.row_logits(sample.observations.levels))
            explored, decisions = explored + unlikely, decisions + len(sample.observations)
            for name, which in _decisions_by_name(sample.contexts, sample.observations.group):
                if name in each:
                    differences.append(residuals[which].sum(axis=0))
                    returns.append(each[name])
                    noise.append(sum(squares[name]) / len(squares[name]))
                    counts.append(len(which))
                    names.append(sample.module)
    if not returns:
        lacking = "function with decisions and a score in two samples"
        raise nothing_learned(samples, lacking, "at least two samples of each")
    variance = np.array(noise)
    typical = _typical(variance)
    expected = variance + typical if weigh_by_noise else np.array(counts) * _typical(variance / np.array(counts))
    weights = _balance_of(names) / expected
    return EffectBatch(np.array(differences), np.array(returns), weights, typical, explored / decisions)


def _typical(variances: np.ndarray) -> float:
    """The median of those above 0; 1 if there is none."""
    return float(np.median(variances[variances > 0])) if (variances > 0).any() else 1.0


def feature_residuals(observations: Observations, logits: np.ndarray) -> tuple[np.ndarray, int]:
    """(x - E x of each decision, float64 [N, D + 1]; how many decisions are not the likeliest). Args: logits: float
    [M], of the policy that was drawn from.
    """
    rows = linear_rows(observations)
    if observations.kind == "binary":
        taken, chance = observations.numbers.astype(np.float64), 1.0 / (1.0 + np.exp(-logits.astype(np.float64)))
        return rows * (taken - chance)[:, None], int(((logits > 0) != (taken > 0)).sum())
    starts, counts = observations.offsets[:-1], np.diff(observations.offsets)
    highest = np.maximum.reduceat(logits, starts)
    chance = np.exp(logits.astype(np.float64) - np.repeat(highest, counts))
    chance /= np.repeat(np.add.reduceat(chance, starts), counts)
    expected = np.add.reduceat(rows * chance[:, None], starts, axis=0)
    return rows[observations.chosen] - expected, int((logits[observations.chosen] < highest).sum())


def _balance_of(modules: Sequence[str]) -> np.ndarray:
    """float64 [G] with mean 1: factors for the weights of equations, by which a project of 100,000 functions does not
    outvote all others. Args: modules: of each; the first folder is the project in a combined corpus.
    """
    _, project, counts = np.unique(
        np.array([name.partition("/")[0] for name in modules]), return_inverse=True, return_counts=True
    )
    factors = (counts / len(modules))[project] ** -0.5
    return factors / factors.mean()


def scale_for(effect: np.ndarray, seen: Sequence[Observations], exploration: float, preference: np.ndarray) -> float:
    """The factor of `effect` with which the policy, its sum with `preference`, explores `exploration` of `seen`."""
    logits = [(linear_rows(each) @ effect, linear_rows(each) @ preference) for each in seen]

    def rate(scale: float) -> float:
        total = sum(_expected_non_greedy(each, scale * z + p) for each, (z, p) in zip(seen, logits, strict=True))
        return total / sum(len(each) for each in seen)

    low, high = 1e-3, 1e4
    # The rate falls as the scale rises; after 40 halvings of the logarithm the bounds have met.
    for _ in range(40):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if rate(middle) > exploration else (low, middle)
    return high


def _expected_non_greedy(observations: Observations, logits: np.ndarray) -> float:
    """The expected number of decisions that are not the likeliest one."""
    if observations.kind == "binary":
        # Above 700 exp overflows, and the term is 0 in any case.
        return float((1.0 / (1.0 + np.exp(np.minimum(np.abs(logits), 700.0)))).sum())
    starts, counts = observations.offsets[:-1], np.diff(observations.offsets)
    likeliest = 1.0 / np.add.reduceat(np.exp(logits - np.repeat(np.maximum.reduceat(logits, starts), counts)), starts)
    return float((1.0 - likeliest).sum())


def _decisions_by_name(contexts: Sequence[str], group: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """The decisions of each context, equal names merged, in the order of their first decisions."""
    numbers: dict[str, int] = {}
    of_context = np.array([numbers.setdefault(name, len(numbers)) for name in contexts])
    of_decision = of_context[group]
    order = np.argsort(of_decision, kind="stable")
    present, starts = np.unique(of_decision[order], return_index=True)
    names = list(numbers)
    return [(names[number], which) for number, which in zip(present, np.split(order, starts[1:]), strict=True)]
