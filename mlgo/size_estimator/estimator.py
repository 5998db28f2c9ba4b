"""Estimates the bytes of a function's code from the properties of its IR.

The estimate is a linear model of the counts, fitted to relative errors, times a correction factor by a small network of
the counts' logarithms. Only the linear model extrapolates to functions larger than those of the training set.
"""

import dataclasses
import json
import pathlib
from collections.abc import Mapping, Sequence

import numpy as np

from mlgo.run import files
from mlgo.run.determinism import generator
from mlgo.run.exit_codes import RunError
from mlgo.size_estimator.examples import Examples

_FORMAT = 1
#: Bytes: no function of x86-64 is smaller than a `ret`.
_LEAST_BYTES = 1.0


@dataclasses.dataclass(frozen=True)
class EstimatorConfig:
    """Settings of the fit. All defaults are ours: trained on Lua, Brotli, Zstandard and yaml-cpp, chosen on SQLite."""

    hidden: int = 16  #: width of the network's only hidden layer.
    steps: int = 400  #: steps of Adam, each on all functions.
    learning_rate: float = 0.01  #: that of Adam; falls to zero over the steps as half a cosine.
    ridge: float = 1e-3  #: weight of the squared weights of the sum, against relative errors of 1.
    decay: float = 1e-3  #: the same for the network, per step.
    smoothing_bytes: float = 4.0  #: errors are relative to the size plus this, so that small functions count less.
    correction: float = 0.5  #: the factor of the network lies within exp(+-correction).


@dataclasses.dataclass(frozen=True)
class SizeEstimator:
    """A fitted model."""

    names: tuple[str, ...]  #: the features, F of them.
    weights: np.ndarray  #: float64 [F + 1], of the sum; the last is the constant.
    #: mean, scale: float64 [F], of log(1 + count) over the training functions.
    mean: np.ndarray
    scale: np.ndarray
    layers: tuple[np.ndarray, ...]  #: float64 arrays [F, H], [H], [H], [1]: weights and biases of the network.
    correction: float

    def estimate(self, features: np.ndarray) -> np.ndarray:
        """Bytes of code, float64 [N], for counts [N, F] in the order of `names`."""
        hidden, _ = _forward(_standardised(features, self.mean, self.scale), self.layers)
        return _sums(features, self.weights) * np.exp(self.correction * np.tanh(hidden))

    def estimate_functions(self, functions: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
        """function -> bytes of its code, by `properties_of`. Raises: RunError: a property is missing."""
        try:
            counts = [[properties[name] for name in self.names] for properties in functions.values()]
        except KeyError as error:
            remedy = "Use opt of the LLVM that the estimator was trained with"
            raise RunError("function properties", f"lack {error}", remedy) from error
        estimated = self.estimate(np.array(counts, np.float64).reshape(len(counts), len(self.names)))
        return dict(zip(functions, estimated.tolist(), strict=True))

    def save(self, path: pathlib.Path) -> None:
        """Writes it as JSON; equal estimators give equal bytes."""
        content = {
            **vars(self),
            "format": _FORMAT,
            "layers": [layer.tolist() for layer in self.layers],
            **{name: getattr(self, name).tolist() for name in ("weights", "mean", "scale")},
        }
        files.write_atomically(path, (json.dumps(content, sort_keys=True) + "\n").encode())

    @staticmethod
    def load(path: pathlib.Path) -> "SizeEstimator":
        """Raises: RunError: the file is absent or not an estimator."""
        content = files.read_json(path, "size estimator", "Train it again: ./bazelw run //mlgo:train_size_estimator")
        try:
            names = tuple(content["names"])
            weights, mean, scale = (np.array(content[name], np.float64) for name in ("weights", "mean", "scale"))
            layers = tuple(np.array(layer, np.float64) for layer in content["layers"])
            count, width = len(names), layers[1].size
            shapes = [array.shape for array in (weights, mean, scale, *layers)]
            expected = [(count + 1,), (count,), (count,), (count, width), (width,), (width,), (1,)]
            if content["format"] != _FORMAT or shapes != expected:
                raise ValueError("its format or a shape is another")
            return SizeEstimator(names, weights, mean, scale, layers, float(content["correction"]))
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise RunError(f"size estimator ({path})", f"is damaged: {error}", "Train it again") from error


def fit(examples: Examples, config: EstimatorConfig, seed: int) -> SizeEstimator:
    """Fits an estimator; equal arguments give equal ones. Raises: RunError: there are fewer functions than features."""
    count, width = examples.features.shape
    if count <= width:
        raise RunError("training corpus", f"has {count} functions with code for {width} features", "Give a larger one")
    weights = _fit_sum(examples, config)
    logarithms = np.log1p(np.maximum(examples.features, 0.0))
    mean, scale = logarithms.mean(axis=0), logarithms.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    inputs = _standardised(examples.features, mean, scale)
    smoothing = config.smoothing_bytes
    target = np.log((examples.code_bytes + smoothing) / (_sums(examples.features, weights) + smoothing))
    first = generator(seed, "size estimator").normal(0.0, 1.0 / np.sqrt(width), (width, config.hidden))
    layers = [first, np.zeros(config.hidden), np.zeros(config.hidden), np.zeros(1)]
    _fit_network(inputs, target, layers, config)
    return SizeEstimator(examples.names, weights, mean, scale, tuple(layers), config.correction)


def _fit_sum(examples: Examples, config: EstimatorConfig) -> np.ndarray:
    """Weights [F + 1] with the least sum of squared relative errors."""
    relative = 1.0 / (examples.code_bytes + config.smoothing_bytes)
    with_constant = np.concatenate([examples.features, np.ones((len(relative), 1))], axis=1)
    scale = np.maximum(with_constant.max(axis=0), 1.0)
    rows = with_constant / scale * relative[:, None]
    target = examples.code_bytes * relative
    gram = rows.T @ rows + config.ridge * np.diag((rows**2).sum(axis=0) + 1e-12)
    return np.linalg.solve(gram, rows.T @ target) / scale


def _fit_network(inputs: np.ndarray, target: np.ndarray, layers: list[np.ndarray], config: EstimatorConfig) -> None:
    """Changes `layers` to have a small mean Huber loss of the logarithm, by Adam (Kingma and Ba 2015, its moments)."""
    first, second = [np.zeros_like(layer) for layer in layers], [np.zeros_like(layer) for layer in layers]
    for step in range(1, config.steps + 1):
        rate = config.learning_rate * 0.5 * (1.0 + np.cos(np.pi * step / config.steps))
        output, hidden = _forward(inputs, layers)
        bounded = np.tanh(output)
        error = config.correction * bounded - target
        outer = np.clip(error, -0.5, 0.5) * config.correction * (1.0 - bounded**2) / len(target)
        inner = np.outer(outer, layers[2]) * (1.0 - hidden**2)
        gradients = [inputs.T @ inner, inner.sum(axis=0), hidden.T @ outer, outer.sum(keepdims=True)]
        for index, gradient in enumerate(gradients):
            gradient = gradient + config.decay * layers[index]
            first[index] = 0.9 * first[index] + 0.1 * gradient
            second[index] = 0.999 * second[index] + 0.001 * gradient**2
            step_size = rate * np.sqrt(1.0 - 0.999**step) / (1.0 - 0.9**step)
            layers[index] -= step_size * first[index] / (np.sqrt(second[index]) + 1e-8)


def _forward(inputs: np.ndarray, layers: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The network's output [N] and its hidden layer [N, H]."""
    hidden = np.tanh(inputs @ layers[0] + layers[1])
    return hidden @ layers[2] + layers[3], hidden


def _standardised(features: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return (np.log1p(np.maximum(features, 0.0)) - mean) / scale


def _sums(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.maximum(features @ weights[:-1] + weights[-1], _LEAST_BYTES)


@dataclasses.dataclass(frozen=True)
class Accuracy:
    """Errors relative to the true size, in percent."""

    #: functions, modules: how many there were.
    functions: int
    modules: int
    #: mean, median, ninth_decile: of the absolute error per function.
    mean: float
    median: float
    ninth_decile: float
    module_mean: float  #: of the absolute error of a module's sum.
    total: float  #: of the sum of everything, with its sign: above 0 is too large an estimate.


def accuracy(examples: Examples, estimated: np.ndarray) -> Accuracy:
    relative = np.abs(estimated - examples.code_bytes) / examples.code_bytes
    names, index = np.unique(np.array(examples.modules), return_inverse=True)
    true_sums, sums = (np.bincount(index, values, len(names)) for values in (examples.code_bytes, estimated))
    return Accuracy(
        functions=len(relative),
        modules=len(names),
        mean=100.0 * float(relative.mean()),
        median=100.0 * float(np.median(relative)),
        ninth_decile=100.0 * float(np.quantile(relative, 0.9)),
        module_mean=100.0 * float((np.abs(sums - true_sums) / true_sums).mean()),
        total=100.0 * float(sums.sum() / true_sums.sum() - 1.0),
    )


def instructions_alone(training: Examples, examples: Examples) -> np.ndarray:
    """Estimates by the training functions' bytes per IR instruction alone, float64 [N] bytes."""
    column = training.names.index("TotalInstructionCount")
    return examples.features[:, column] * (training.code_bytes.sum() / training.features[:, column].sum())
