"""Which modules of a corpus a command works on, by --module_filter and --sampling_rate."""

import math
import re
from collections.abc import Sequence

from mlgo.run import determinism
from mlgo.run.exit_codes import ExitCode, RunError


def chosen_modules(names: Sequence[str], module_filter: str | None, sampling_rate: float, seed: int) -> list[str]:
    """Of the names in which the filter is found, the given part, rounded up, in their order.

    Raises: RunError: the filter is no regular expression, or nothing is left.
    """
    try:
        matching = [name for name in names if module_filter is None or re.search(module_filter, name)]
    except re.error as error:
        raise RunError(
            f"--module_filter={module_filter}", f"is no regular expression: {error}", "Correct it"
        ) from error
    count = math.ceil(sampling_rate * len(matching))
    if not count:
        raise RunError(
            f"--module_filter={module_filter} --sampling_rate={sampling_rate}",
            f"leave none of {len(names)} modules",
            "Widen them",
            ExitCode.NOTHING_PRODUCED,
        )
    order = determinism.generator(seed, "sampled modules").permutation(len(matching))
    return [matching[index] for index in sorted(order[:count].tolist())]
