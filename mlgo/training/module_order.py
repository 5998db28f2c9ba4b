"""Which modules an iteration compiles: seeded, without replacement, each module equally often."""

import functools
from collections.abc import Sequence

import numpy as np

from mlgo.run import determinism

#: One in so many modules chooses the policy, as long as these are not more than asked for. Of the 86 modules of the
#: built-in corpus, and of the corpora of the shipped policies, the number asked for (16, 40) is less than that.
VALIDATION_ONE_IN = 4


def modules_of_iteration(names: Sequence[str], iteration: int, count: int, seed: int) -> list[str]:
    """The `count` modules of iteration `iteration`, sorted by name.

    The corpus is walked through in one random order, then in another, and so on; iterations take consecutive pieces of
    that walk. So every module comes once before any comes twice, but for a piece that spans two walks, where a module
    of the second walk that is in the piece already is left out.

    Args:
      names: all modules, >= 1.
      iteration: >= 0.
      count: modules per iteration, >= 1; at least `len(names)` means all of them each time.
      seed: of the run.
    """
    if count >= len(names):
        return sorted(names)
    first = iteration * count
    chosen = set()
    for place in range(first, first + count):
        walk, index = divmod(place, len(names))
        chosen.add(names[_permutation(len(names), walk, seed)[index]])
    return sorted(chosen)


def validation_count(modules: int, most: int) -> int:
    """How many of `modules` modules choose the policy: one in VALIDATION_ONE_IN, at least one and at most `most`."""
    return max(1, min(most, modules // VALIDATION_ONE_IN))


def validation_split(names: Sequence[str], most: int, seed: int) -> tuple[list[str], list[str]]:
    """`names` in two parts: to learn from, and for choosing the policy; see `validation_count`.

    With a single module both parts are that module.
    """
    if len(names) == 1:
        return list(names), list(names)
    count = validation_count(len(names), most)
    chosen = set(determinism.generator(seed, "validation modules").permutation(len(names))[:count].tolist())
    training = [name for index, name in enumerate(names) if index not in chosen]
    return training, [name for index, name in enumerate(names) if index in chosen]


@functools.lru_cache(maxsize=2)  # A piece spans two walks at most.
def _permutation(count: int, walk: int, seed: int) -> np.ndarray:
    return determinism.generator(seed, "module order", walk).permutation(count)
