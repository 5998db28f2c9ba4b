"""The error of estimates."""

import dataclasses

import numpy as np

from mlgo.size_estimator.examples import Examples


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
    """Estimates by counting IR instructions, float64 [N] bytes: the training functions' bytes per instruction times
    them.
    """
    column = training.names.index("TotalInstructionCount")
    return examples.features[:, column] * (training.code_bytes.sum() / training.features[:, column].sum())
