"""Made-up logs and code sizes of one module."""

import numpy as np

from mlgo.compiler.training_log import TrainingLog
from mlgo.score.function_scores import NON_FUNCTION_BYTES, FunctionScore


def log_of(*decisions: tuple[str, str, int]) -> TrainingLog:
    """A log of (caller, callee, inlined)."""
    contexts = [f"{caller}\n{callee}" for caller, callee, _ in decisions]
    actions = np.array([[inlined] for _, _, inlined in decisions], np.int64)
    outcomes = np.full(len(decisions), np.nan, np.float32)
    return TrainingLog(contexts, np.arange(len(decisions), dtype=np.int32), {}, actions, outcomes, {})


def sizes_of(rest: float = 0.0, **functions: float) -> dict[str, FunctionScore]:
    """Scores of functions with these sizes and one decision each; `rest` bytes belong to no function."""
    scores = {name: FunctionScore(1, size) for name, size in functions.items()}
    return {NON_FUNCTION_BYTES: FunctionScore(0, rest), **scores}
