"""IR2Native: how many bytes of code a function becomes, estimated from the properties of its IR.

The RFC ("An MLGO framework in LLVM", 2020; LLVM's InlineSizeEstimatorAnalysis) trains this so that an inlining policy can be
rewarded right after the inliner, without code generation. An estimate is for sums over many functions: errors of single ones
are large and mostly cancel. Its report says by how much, on modules that were not trained on, beside what a constant number
of bytes per instruction gives.

Measured on 65 modules of four C and C++ projects at -Oz (1,583 functions), a fifth of the modules held back, three seeds:
half of the functions are estimated within 12 to 20 %, by a constant per instruction within 22 to 35 %; modules' sums are
wrong by 14 to 21 % and 15 to 24 % on average.

    ln(bytes) ~ f(ln(1 + properties)),  estimate = exp(f) * correction

f is a small network; the correction makes the estimates' sum over the training functions right, which exp of a mean
logarithm is not (Duan, "Smearing estimate", 1983). Only NumPy and the optimiser's TensorFlow kernel are used.
"""

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence

import gin
import numpy as np
import tensorflow as tf

from mlgo.learning.determinism import derive_seed, generator
from mlgo.learning.function_properties import FunctionProperties
from mlgo.learning.optimizer import Adam
from mlgo.run.exit_codes import ExitCode, RunError

#: The property that the baseline counts.
INSTRUCTIONS = "TotalInstructionCount"


@gin.configurable
@dataclasses.dataclass(frozen=True)
class SizeEstimatorConfig:
    """Settings; all defaults are ours.

    Attributes:
      units: of the two hidden layers.
      epochs, minibatch: passes over the functions, functions per step.
      learning_rate: Adam's at the start; falls in a straight line to a tenth.
      l2: decay of the kernels, added to the loss as l2 * sum(w^2) / 2.
      validation_share: modules held back, chosen by a hash of the seed and their name.
    """

    units: int = 32
    epochs: int = 60
    minibatch: int = 256
    learning_rate: float = 3e-3
    l2: float = 1e-5
    validation_share: float = 0.2

    def __post_init__(self):
        if min(self.units, self.epochs, self.minibatch) < 1 or not self.learning_rate > 0:
            raise ValueError(f"{self}: units, epochs, minibatch and learning_rate must be positive")
        if not 0 < self.validation_share < 1:
            raise ValueError(f"SizeEstimatorConfig.validation_share={self.validation_share} must lie in (0, 1)")


@dataclasses.dataclass(frozen=True)
class Functions:
    """F functions of known size.

    Attributes:
      properties: of each.
      code_bytes: float64 [F], > 0.
      modules: the module each is from.
    """

    properties: FunctionProperties
    code_bytes: np.ndarray
    modules: tuple[str, ...]

    def __post_init__(self):
        count = len(self.properties.functions)
        if self.code_bytes.shape != (count,) or len(self.modules) != count or not (self.code_bytes > 0).all():
            raise ValueError(f"{count} functions, {self.code_bytes.shape} sizes > 0, {len(self.modules)} modules do not fit")

    def select(self, which: np.ndarray) -> "Functions":
        return Functions(self.properties.select(which), self.code_bytes[which], tuple(self.modules[i] for i in which))


@dataclasses.dataclass(frozen=True)
class SizeEstimator:
    """A trained estimator.

    Attributes:
      names: the properties it reads, in this order.
      mean, deviation: float64 [K], of ln(1 + property) in training.
      weights: "0/kernel", "0/bias", "1/kernel", "1/bias", "output/kernel", "output/bias"; float32.
      correction: what exp(f) is multiplied by.
    """

    names: tuple[str, ...]
    mean: np.ndarray
    deviation: np.ndarray
    weights: Mapping[str, np.ndarray]
    correction: float

    def estimate(self, properties: FunctionProperties) -> np.ndarray:
        """float64 [F]: bytes of code of each function.

        Raises: RunError: a property that it reads is missing.
        """
        place = {name: index for index, name in enumerate(properties.names)}
        if missing := [name for name in self.names if name not in place] if properties.functions else []:
            raise RunError(
                "the size estimator",
                f"reads {missing[0]}, which these function properties lack",
                "Print them with the flags and the LLVM that it was trained with",
            )
        if not properties.functions:
            return np.zeros(0)
        inputs = self._normalised(properties.values[:, [place[name] for name in self.names]])
        hidden = inputs.astype(np.float64)
        for layer in "01":
            hidden = np.maximum(hidden @ self.weights[f"{layer}/kernel"] + self.weights[f"{layer}/bias"], 0)
        logarithm = (hidden @ self.weights["output/kernel"])[:, 0] + self.weights["output/bias"][0]
        return np.exp(logarithm) * self.correction

    def module_bytes(self, properties: FunctionProperties) -> float:
        """The estimate for a whole module: the sum over its functions."""
        return math.fsum(self.estimate(properties).tolist())

    def arrays(self) -> dict[str, np.ndarray]:
        """For a checkpoint (checkpoint.py)."""
        facts = {"names": np.array(json.dumps(self.names)), "correction": np.array(self.correction)}
        return {**facts, "mean": self.mean, "deviation": self.deviation, **self.weights}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "SizeEstimator":
        """The inverse of `arrays`."""
        weights = {name: value for name, value in arrays.items() if "/" in name}
        names = tuple(json.loads(str(arrays["names"])))
        return cls(names, arrays["mean"], arrays["deviation"], weights, float(arrays["correction"]))

    def _normalised(self, values: np.ndarray) -> np.ndarray:
        return ((np.log1p(np.maximum(values, 0)) - self.mean) / self.deviation).astype(np.float32)


@dataclasses.dataclass(frozen=True)
class EstimationError:
    """How wrong estimates are, on functions that were not trained on.

    Attributes:
      functions, modules: how many.
      median, mean: of |estimate / bytes - 1| over functions.
      module_mean: the same for sums over a module's functions.
      total: sum of the estimates / sum of the bytes - 1.
    """

    functions: int
    modules: int
    median: float
    mean: float
    module_mean: float
    total: float


def train_size_estimator(
    functions: Functions, seed: int, config: SizeEstimatorConfig | None = None
) -> tuple[SizeEstimator, EstimationError, EstimationError]:
    """(estimator, its error on modules held back, the error there of a constant number of bytes per instruction).

    Equal arguments give equal bytes on one machine; call determinism.configure_tensorflow() first.

    Raises: RunError: there are fewer than two modules, or the loss is not finite.
    """
    config = config or SizeEstimatorConfig()
    training, held_back = _split(functions, config.validation_share, seed)
    known = functions.select(training)
    logarithms = np.log1p(known.properties.values)
    informative = np.flatnonzero(np.ptp(logarithms, axis=0) > 0)
    names = tuple(known.properties.names[index] for index in informative)
    mean, deviation = logarithms[:, informative].mean(axis=0), logarithms[:, informative].std(axis=0)
    fresh = SizeEstimator(names, mean, deviation, _initial_weights(len(names), known.code_bytes, config.units, seed), 1.0)
    weights = _fit(fresh, known, seed, config)
    fitted = dataclasses.replace(fresh, weights=weights)
    correction = float(known.code_bytes.sum() / fitted.estimate(known.properties).sum())
    estimator = dataclasses.replace(fitted, correction=correction)
    unknown = functions.select(held_back)
    place = functions.properties.names.index(INSTRUCTIONS)
    per_instruction = known.code_bytes.sum() / known.properties.values[:, place].sum()
    return (
        estimator,
        estimation_error(estimator.estimate(unknown.properties), unknown),
        estimation_error(per_instruction * unknown.properties.values[:, place], unknown),
    )


def estimation_error(estimates: np.ndarray, functions: Functions) -> EstimationError:
    """The error of `estimates` float [F]."""
    relative = np.abs(estimates / functions.code_bytes - 1)
    names, of_module = np.unique(np.array(functions.modules), return_inverse=True)
    sums = [np.bincount(of_module, weights=each) for each in (estimates, functions.code_bytes)]
    return EstimationError(
        functions=len(relative),
        modules=len(names),
        median=float(np.median(relative)),
        mean=float(relative.mean()),
        module_mean=float(np.abs(sums[0] / sums[1] - 1).mean()),
        total=float(estimates.sum() / functions.code_bytes.sum() - 1),
    )


def _split(functions: Functions, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    names = sorted(set(functions.modules))
    if len(names) < 2:
        raise RunError(
            f"functions of {len(names)} modules",
            "are too few to train a size estimator: some modules must be held back",
            "Give a corpus of some dozens of modules",
            ExitCode.NOTHING_PRODUCED,
        )
    held = {name for name in names if derive_seed(seed, "held back", name) / 2.0**63 < share}
    # Never all, never none.
    held = held - {names[0]} if len(held) == len(names) else held or {names[-1]}
    is_held = np.array([module in held for module in functions.modules])
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)


def _initial_weights(inputs: int, code_bytes: np.ndarray, units: int, seed: int) -> dict[str, np.ndarray]:
    weights = {}
    for layer, shape in (("0", (inputs, units)), ("1", (units, units))):
        limit = np.sqrt(6.0 / sum(shape))  # Glorot uniform.
        weights[f"{layer}/kernel"] = generator(seed, "size estimator", layer).uniform(-limit, limit, shape).astype(np.float32)
        weights[f"{layer}/bias"] = np.zeros(units, np.float32)
    weights["output/kernel"] = np.zeros((units, 1), np.float32)
    weights["output/bias"] = np.array([np.log(code_bytes).mean()], np.float32)
    return weights


def _fit(fresh: SizeEstimator, known: Functions, seed: int, config: SizeEstimatorConfig) -> dict[str, np.ndarray]:
    adam = Adam(fresh.weights, epsilon=1e-7)  # Keras's default.
    names = sorted(fresh.weights)

    def step(inputs, targets, rate, power1, power2):
        variables = adam.variables
        with tf.GradientTape() as tape:
            hidden = inputs
            for layer in "01":
                hidden = tf.nn.relu(tf.matmul(hidden, variables[f"{layer}/kernel"]) + variables[f"{layer}/bias"])
            output = (tf.matmul(hidden, variables["output/kernel"]) + variables["output/bias"])[:, 0]
            loss = tf.reduce_mean(tf.square(output - targets))
            loss += config.l2 * tf.add_n([tf.nn.l2_loss(v) for n, v in variables.items() if n.endswith("kernel")])
        adam.apply(names, tape.gradient(loss, [variables[name] for name in names]), rate, power1, power2)
        return loss

    number = tf.TensorSpec([], tf.float32)
    signature = [tf.TensorSpec([None, len(fresh.names)], tf.float32), tf.TensorSpec([None], tf.float32), number, number, number]
    step = tf.function(step, input_signature=signature, autograph=False)
    place = [known.properties.names.index(name) for name in fresh.names]
    inputs = fresh._normalised(known.properties.values[:, place])  # pylint: disable=protected-access
    targets = np.log(known.code_bytes).astype(np.float32)
    for epoch in range(config.epochs):
        order = generator(seed, "size estimator minibatches", epoch).permutation(len(targets))
        rate = np.float32(config.learning_rate * (1 - 0.9 * epoch / config.epochs))
        for which in np.array_split(order, math.ceil(len(order) / config.minibatch)):
            loss = float(step(inputs[which], targets[which], rate, *adam.next_powers()))
        if not math.isfinite(loss):
            raise RunError(
                f"the size estimator, epoch {epoch}",
                f"the loss is {loss}",
                f"Lower SizeEstimatorConfig.learning_rate (now {config.learning_rate})",
                ExitCode.INTERNAL_ERROR,
            )
    return adam.weights()


def joined(parts: Sequence[Functions]) -> Functions:
    """All functions of `parts`, which have the same properties."""
    names = parts[0].properties.names
    if any(part.properties.names != names for part in parts):
        raise ValueError("function properties of different LLVMs or flags cannot be joined")
    properties = FunctionProperties(
        tuple(name for part in parts for name in part.properties.functions),
        names,
        np.concatenate([part.properties.values for part in parts]),
    )
    code_bytes = np.concatenate([part.code_bytes for part in parts])
    return Functions(properties, code_bytes, tuple(name for part in parts for name in part.modules))
