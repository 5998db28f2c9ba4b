"""Continuous decisions matter by their order only: order-preserving scales, and the agreement of two orders.

LLVM's default priorities are bit fields (stage, hint, class, size) over 32 bits: regressing on them would learn the
highest bit and nothing else. Their ranks hold all that the allocator sees of them.
"""

import dataclasses

import numpy as np

from mlgo.learning.observations import Observations

#: What the lowest and the highest number become, in units of the network's output: inside the range from 0 that a
#: policy can answer, with room for noise below, and few units wide, so that weights stay small.
LOWEST, HIGHEST = 1.0, 7.0


@dataclasses.dataclass(frozen=True)
class OrderScale:
    """A monotone map: `values` float32 [K], increasing, become `targets` float32 [K] in LOWEST .. HIGHEST."""

    values: np.ndarray
    targets: np.ndarray

    def apply(self, answers: np.ndarray) -> np.ndarray:
        """float32 [N]: linear between values, the ends beyond them."""
        return np.interp(answers, self.values, self.targets).astype(np.float32)


def order_scale(answers: np.ndarray) -> OrderScale:
    """The scale on which `answers` float [N] are spread evenly: a value's target follows from its mean rank."""
    values, counts = np.unique(np.asarray(answers, np.float32), return_counts=True)
    middle = np.cumsum(counts) - counts / 2.0
    return OrderScale(values, (LOWEST + (HIGHEST - LOWEST) * middle / counts.sum()).astype(np.float32))


def order_agreement(observations: Observations, answers: np.ndarray) -> float:
    """Share of neighbouring decisions of one function that `answers` [N] put in the same order as the decisions taken.

    Neighbours that were decided alike do not count; answered alike they count half. 0.5 is what any constant answer
    gets.
    """
    pairs = np.flatnonzero(observations.group[1:] == observations.group[:-1])
    wanted = np.sign(observations.numbers[pairs + 1] - observations.numbers[pairs])
    got = np.sign(np.asarray(answers)[pairs + 1] - np.asarray(answers)[pairs])
    differ = wanted != 0
    return float(np.mean((1.0 + wanted[differ] * got[differ]) / 2.0)) if differ.any() else 0.5
