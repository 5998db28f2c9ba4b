"""The fitness of the candidates of a generation, for algorithms that compare whole modules."""

from collections.abc import Sequence

import numpy as np

from mlgo.learning.learner import Sample
from mlgo.run.exit_codes import ExitCode, RunError


def fitness_of(samples: Sequence[Sample], candidates: int, regression_penalty: float) -> tuple[np.ndarray, int]:
    """(float64 [candidates], number of modules): each candidate's weighted mean improvement over the modules that have
    a sample of every candidate. Raises: RunError: there is no such module.
    """
    by_module: dict[str, dict[int, Sample]] = {}
    for sample in samples:
        by_module.setdefault(sample.module, {})[sample.variant] = sample
    complete = [by_variant for by_variant in by_module.values() if len(by_variant) == candidates]
    if not complete:
        raise RunError(
            f"a generation of {candidates} candidates",
            f"none of {len(by_module)} modules was scored under all of them",
            "Use more modules in an iteration, or look why compiles fail",
            ExitCode.NOTHING_PRODUCED,
        )
    improvements = np.array([[each[index].improvement for index in range(candidates)] for each in complete])
    weights = np.array([[each[index].weight for index in range(candidates)] for each in complete])
    improvements = np.where(improvements < 0, (1 + regression_penalty) * improvements, improvements)
    return (improvements * weights).sum(axis=0) / weights.sum(axis=0), len(complete)
