"""Which modules an iteration compiles: seeded, without replacement, each module equally often."""

import functools
from collections.abc import Collection, Sequence

import numpy as np

from mlgo.run import determinism

#: Of a small corpus, one module in so many chooses the policy. More may where _LEARNED_FROM remain to learn from, up to
#: half of the modules.
_VALIDATION_ONE_IN, _LEARNED_FROM = 4, 32


def modules_of_iteration(names: Sequence[str], iteration: int, count: int, seed: int) -> list[str]:
    """The `count` modules of iteration `iteration`, sorted by name.

    The corpus is walked through in one random order, then in another, and so on; iterations take consecutive pieces of
    that walk. So every module comes once before any comes twice, but for a piece that spans two walks, where a module
    of the second walk that is in the piece already is left out.

    Args: count: modules per iteration, >= 1; at least `len(names)` means all of them each time.
    """
    if count >= len(names):
        return sorted(names)
    places = (divmod(place, len(names)) for place in range(iteration * count, (iteration + 1) * count))
    return sorted({names[_permutation(len(names), walk, seed)[index]] for walk, index in places})


def validation_split(
    names: Sequence[str], most: int, seed: int, eligible: Collection[str] | None = None
) -> tuple[list[str], list[str]]:
    """`names` in two parts: to learn from, and at least one and at most `most` for choosing the policy.

    With a single module both parts are that module.

    Args: eligible: those of `names` that may choose the policy, at least one; None: all.
    """
    if len(names) == 1:
        return list(names), list(names)
    modules = len(names)
    limit = max(modules // _VALIDATION_ONE_IN, min(modules // 2, modules - _LEARNED_FROM))
    count = max(1, min(most, limit))
    drawn = determinism.generator(seed, "validation modules").permutation(len(names)).tolist()
    chosen = set([index for index in drawn if eligible is None or names[index] in eligible][:count])
    training = [name for index, name in enumerate(names) if index not in chosen]
    return training, [name for index, name in enumerate(names) if index in chosen]


@functools.lru_cache(maxsize=2)  # A piece spans two walks at most.
def _permutation(count: int, walk: int, seed: int) -> np.ndarray:
    return determinism.generator(seed, "module order", walk).permutation(count)
