"""Random policies and observations for tests of generated C++: every kind of decision, odd sizes, extreme numbers."""

import dataclasses
from collections.abc import Mapping

import numpy as np

from mlgo.learning.network import PolicyNetwork
from mlgo.learning.normalization import Normalizer, build_normalizer
from mlgo.learning.testing import synthetic
from mlgo.problems.ir2vec import split_element
from mlgo.problems.problem import Problem, load_problem
from mlgo.problems.tensor import TensorSpec
from mlgo.run.determinism import generator

#: Counts where int64 -> float32 -> levels can go wrong: the ends of exact float32 and float64, and of int64.
_EXTREME_COUNTS = (
    *(-(2**63), -(2**53) - 1, -(2**24) - 1, -1, 0, 1, 2**24 - 1, 2**24, 2**24 + 1, 2**31, 2**40 + 3),
    *(2**53 + 1, 2**62 + 2**38 + 1, 2**63 - 1),
)
_EXTREME_FLOATS = (0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 1e-45, -1e-45, 1e-39, 1.17549435e-38, 3.4e38, -3.4e38)


@dataclasses.dataclass(frozen=True)
class Case:
    """A random policy.

    Attributes:
      problem: its problem.
      units: sizes of the hidden layers.
      features: the policy uses only these, as if it had been trained without the others; None: all.
      large: every unit has one weight of this magnitude, 0: none. 32767 / 4096 is the largest that 16 bits hold.
    """

    problem: Problem
    units: tuple[int, ...]
    features: tuple[str, ...] | None = None
    large: float = 0.0

    def network(self, seed: int) -> PolicyNetwork:
        """The policy; a pure function of the arguments."""
        normalizer = self._normalizer()
        random = generator(seed, "made-up weights")
        weights, inputs = {}, normalizer.width
        for index, units in enumerate(self.units):
            kernel = random.standard_normal((inputs, units)) / np.sqrt(inputs)
            if self.large:
                # The others are small, so that column sums stay below what is exact with 12 binary places.
                kernel *= 0.1
                kernel[random.integers(0, inputs, units), np.arange(units)] = self.large * random.choice([-1, 1], units)
            weights[f"policy/{index}/kernel"] = kernel.astype(np.float32)
            weights[f"policy/{index}/bias"] = random.normal(0, 0.2, units).astype(np.float32)
            inputs = units
        weights["policy/logits/kernel"] = (random.standard_normal((inputs, 1)) * self._logit_scale()).astype(np.float32)
        return PolicyNetwork(normalizer, weights)

    def _logit_scale(self) -> float:
        # A number is to be 0, somewhere in between, and at its top.
        return 1.0 if self.problem.max_output is None else 2 * self.problem.max_output / self.units[-1]

    def _normalizer(self) -> Normalizer:
        quantiles = {
            name: _quantiles(spec) if self.features is None or spec.name in self.features else np.zeros(1)
            for spec in self.problem.observation_specs
            for name in self.problem.elements(spec)
        }
        normalizer = build_normalizer(quantiles, self.problem)
        return normalizer if self.features is None else dataclasses.replace(normalizer, dropped=())


_EVICTION, _INLINING, _PRIORITY = map(load_problem, ("regalloc_eviction", "inlining_for_size", "regalloc_priority"))

#: //release/backends/cpp:decisions_test compiles all of them.
CASES: Mapping[str, Case] = {
    "tiny": Case(synthetic.PROBLEM, (3,)),  # Also testdata/tiny.{h,cpp}, for reading.
    "every_type": Case(synthetic.EVERY_TYPE, (16, 8)),
    "eviction": Case(_EVICTION, (80, 40)),
    "eviction_edge": Case(_EVICTION, (24, 16), large=32767 / 4096),
    "eviction_wide": Case(_EVICTION, (17, 9), large=9.5),
    "inlining": Case(_INLINING, (80, 40)),
    "inlining_few_features": Case(_INLINING, (18,), features=("cost_estimate", "callee_users", "threshold")),
    "inlining_embeddings": Case(load_problem("inlining_for_size+ir2vec.5.0123456789abcdef"), (24, 8)),
    "inlining_four_layers": Case(_INLINING, (43, 82, 5, 8)),
    "priority": Case(_PRIORITY, (80, 10)),
    "priority_wide": Case(_PRIORITY, (9,), large=9.5),
}


def observations(problem: Problem, normalizer: Normalizer, count: int, seed: int) -> dict[str, np.ndarray]:
    """`count` observations, feature -> [count, *shape]: segment borders, extremes, equal candidates, few legal ones."""
    random = generator(seed, "made-up observations")
    result = {}
    for spec in problem.observation_specs:
        shape = (count, *spec.shape)
        knots = [
            end
            for column in normalizer.columns
            if split_element(column.feature)[0] == spec.name
            for end in (column.start, column.end)
        ]
        result[spec.name] = _values(random, spec, shape, np.array(sorted(set(knots)) or [0.0]))
    if problem.mask_feature is not None:
        twins = random.random(count) < 0.2  # All candidates alike: nothing but ties.
        for name in result:
            result[name][twins] = result[name][twins][..., :1]
        positions = problem.action_count
        legal = random.random((count, positions)) < random.choice([0.0, 0.05, 0.2, 1.0], (count, 1))
        legal[np.arange(count), random.integers(0, positions, count)] = True
        legal[: count // 100] = False  # Never asked by LLVM; answered with 0 all the same.
        mask = np.where(
            legal,
            random.choice([1, 1, 1, 2, 2**63 - 1], legal.shape),
            random.choice([0, 0, 0, -1, -(2**63)], legal.shape),
        )
        result[problem.mask_feature] = mask.reshape(count, *problem.observation_spec(problem.mask_feature).shape)
    return result


def _quantiles(spec: TensorSpec) -> np.ndarray:
    if spec.dtype.startswith("float"):
        return np.linspace(0.0, 1.0, 101) ** 3
    return np.array([0, 1, 2, 3, 7, 100, 40_000, 2**24 + 1])


def _values(random: np.random.Generator, spec: TensorSpec, shape: tuple[int, ...], knots: np.ndarray) -> np.ndarray:
    kind = random.integers(0, 10, shape)
    if spec.dtype.startswith("float"):
        dtype = np.dtype(spec.dtype)
        value = random.random(shape, dtype)
        border = random.choice(knots.astype(dtype), shape)
        beside = np.nextafter(border, random.choice(np.array([-np.inf, np.inf], dtype), shape))
        extreme = random.choice(np.array(_EXTREME_FLOATS, dtype), shape)
    else:
        value = random.integers(-2, 8, shape)
        border = random.choice(knots.astype(np.int64), shape)
        beside = border + random.integers(-1, 2, shape)
        extreme = random.choice(np.array(_EXTREME_COUNTS, np.int64), shape)
    return np.select([kind < 3, kind < 5, kind < 6], [border, beside, extreme], value).astype(spec.dtype)
