"""The exact network in integers, as the generated C++ computes it, with a check that no sum overflows.

`ExactNetwork` computes with multiples of powers of two that float32 never rounds. Divided by these powers, the weights
are integers. Inputs of layers are integers, and every partial sum stays below 2^24, so 32-bit integers give the same
decisions: z = sum * grid. If all weights of a layer fit into 16 bits, SSE2 multiplies eight at a time.
"""

import dataclasses

import numpy as np

from mlgo.learning.exact_network import HIDDEN_PER_UNIT, ExactNetwork
from mlgo.learning.normalization import LEVEL_SCALE, TOP_LEVEL

#: The largest hidden value, relu6's 6 in steps of 1 / HIDDEN_PER_UNIT.
HIDDEN_TOP = int(6 * HIDDEN_PER_UNIT)
#: Sums below this are exact as float32 too.
SUM_LIMIT = 2**24
_INT16_TOP = 2**15 - 1


@dataclasses.dataclass(frozen=True)
class WholeLayer:
    """One layer: sum_j = bias_j + sum over i of input_i * kernel_ij, and z_j = sum_j * grid.

    Attributes:
      kernel: int32 [inputs, units].
      bias: int32 [units].
      grid: the power of two that one step of a sum stands for.
      input_top: the largest input; the smallest is 0.
    """

    kernel: np.ndarray
    bias: np.ndarray
    grid: float
    input_top: int

    def __post_init__(self):
        if self.largest_sum >= SUM_LIMIT:
            raise ValueError(f"a sum can reach {self.largest_sum}, beyond {SUM_LIMIT}")

    @property
    def largest_weight(self) -> int:
        return int(np.abs(self.kernel).max(initial=0))

    @property
    def largest_sum(self) -> int:
        """What no partial sum exceeds in magnitude, for any inputs and any order of additions."""
        reach = self.input_top * np.abs(self.kernel.astype(np.int64)).sum(axis=0) + np.abs(self.bias.astype(np.int64))
        return int(reach.max(initial=0))

    @property
    def weight_bits(self) -> int:
        """16 or 32: bits per weight."""
        return 16 if self.largest_weight <= _INT16_TOP else 32

    @property
    def hidden_shift(self) -> int:
        """floor(z * HIDDEN_PER_UNIT) is the sum shifted right by this."""
        shift = -np.log2(self.grid * HIDDEN_PER_UNIT)
        if shift != int(shift) or shift < 0:
            raise ValueError(f"grid {self.grid} is not a power of two at most 1/{HIDDEN_PER_UNIT:g}")
        return int(shift)


def whole_layers(network: ExactNetwork) -> list[WholeLayer]:
    """Hidden layers, then the logits' layer (one unit, no bias).

    Raises: ValueError: `network` is not on its own grid, or a sum does not fit; exact_network() makes no such network.
    """
    layers = []
    unit, top = LEVEL_SCALE, TOP_LEVEL
    for layer in network.hidden:
        grid = unit * 2.0**-layer.bits
        layers.append(WholeLayer(_steps(layer.kernel, grid), _steps(layer.bias, grid), grid, top))
        unit, top = 1.0 / HIDDEN_PER_UNIT, HIDDEN_TOP
    grid = _coarsest_grid(network.logits)
    layers.append(WholeLayer(_steps(network.logits, grid), np.zeros(network.logits.shape[1], np.int32), grid, top))
    return layers


def _steps(values: np.ndarray, grid: float) -> np.ndarray:
    steps = np.asarray(values, np.float64) / grid
    whole = np.round(steps)
    if not np.array_equal(steps, whole) or np.abs(whole).max(initial=0) >= SUM_LIMIT:
        raise ValueError(f"values are not multiples of {grid} below {SUM_LIMIT} times it")
    return whole.astype(np.int32)


def _coarsest_grid(values: np.ndarray) -> float:
    """The largest power of two, at most 1, that divides all `values`; they are multiples of 2^-24 at least."""
    whole = np.round(np.asarray(values, np.float64) * 2.0**24).astype(np.int64)
    together = int(np.bitwise_or.reduce(np.abs(whole), axis=None))
    lowest_bit = together & -together
    return min(1.0, lowest_bit * 2.0**-24) if together else 1.0
