"""Kinds of divergence with a message each, and the reaction of a training loop.

An update that breaks down raises `DivergenceError` by itself. Conditions that only several iterations show are found by
`judge` in the metrics of these iterations. `answer_to` says whether a run stops or rolls back.

Rolling back: the loop goes back to the checkpoint from before the update, constructs the learner again with
`slowed(config, rollbacks)`, and continues with the next iteration, whose modules and draws are others.
"""

import dataclasses
import enum
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import gin
import numpy as np

from mlgo.run.exit_codes import ExitCode, RunError

_Config = TypeVar("_Config", bound=Any)


class Divergence(enum.Enum):
    NOT_FINITE = "not finite"  #: returns, a loss or a gradient hold NaN or infinity.
    EXPLODED = "exploded"  #: a loss is far above anything healthy.
    COLLAPSED_ENTROPY = "collapsed entropy"  #: exploring takes nearly the same decisions every time.
    EQUAL_RETURNS = "equal returns"  #: no decision is better than another.


class OnDivergence(enum.Enum):
    """Reactions to divergence; the values are those of the flag --on_divergence."""

    STOP = "stop"
    ROLL_BACK = "roll_back"


class DivergenceError(RunError):
    """An update diverged. The weights from before it are unharmed on disk."""

    def __init__(self, kind: Divergence, where: str, wrong: str, remedy: str):
        super().__init__(where, wrong, remedy, ExitCode.INTERNAL_ERROR)
        self.kind = kind


def failed_step(update: str, step: np.ndarray, wrong: str, config: Any) -> DivergenceError:
    """The error of a gradient step that exploded, or is not finite. Args: step: its figures; config: the learner's."""
    kind = Divergence.EXPLODED if np.isfinite(step).all() else Divergence.NOT_FINITE
    rate = f"{type(config).__name__}.learning_rate (now {config.learning_rate})"
    return DivergenceError(kind, update, wrong, f"Resume from the last checkpoint with a smaller {rate}")


@gin.configurable
@dataclasses.dataclass(frozen=True)
class DivergenceRules:
    """When training counts as diverged, besides what learners detect themselves. All defaults are ours."""

    #: a condition must hold in this many iterations in a row: a few small modules may well return the same.
    patience: int = 3
    #: mean entropy of decisions, in nats, below which exploration has collapsed. At 0.001 one binary decision in 10,000
    #: differs from the greedy policy's.
    lowest_entropy: float = 1e-3
    #: standard deviation of returns (or of candidates' improvements) up to which they are all equal; float32 leaves
    #: less than this of equal numbers.
    lowest_deviation: float = 1e-7
    slow_down: float = 0.5  #: what the learning rate (or step, or sigma) is multiplied by at each rollback.
    most_rollbacks: int = 3  #: after this many the run stops.

    def __post_init__(self):
        if self.patience < 1 or self.most_rollbacks < 0:
            raise ValueError(
                f"DivergenceRules: patience={self.patience} >= 1, most_rollbacks={self.most_rollbacks} >= 0"
            )
        if not 0 < self.slow_down < 1:
            raise ValueError(f"DivergenceRules.slow_down={self.slow_down} must lie between 0 and 1")


def judge(
    history: Sequence[Mapping[str, float]], rules: DivergenceRules, iteration: int | None = None
) -> DivergenceError | None:
    """What is wrong with the last iterations, or None.

    Args:
      history: metrics of `Learner.update`, oldest first; those of the last `rules.patience` iterations are enough.
      iteration: number of the last one, for messages; None: `history` holds all iterations.
    """
    if not history:
        return None
    where, last = f"iteration {len(history) - 1 if iteration is None else iteration}", history[-1]
    for name, value in sorted(last.items()):
        if isinstance(value, (int, float)) and not math.isfinite(value):
            remedy = "Resume with a smaller learning rate, or with --on_divergence=roll_back"
            return DivergenceError(Divergence.NOT_FINITE, where, f"its {name} is {value}", remedy)
    recent = history[-rules.patience :]
    if len(recent) < rules.patience:
        return None
    times = f"for {rules.patience} iterations" if rules.patience > 1 else "now"
    if all(each.get("entropy", math.inf) < rules.lowest_entropy for each in recent):
        return DivergenceError(
            Divergence.COLLAPSED_ENTROPY,
            where,
            f"the entropy of decisions is {last['entropy']:.2g}, {times} below {rules.lowest_entropy:g}: "
            "the policy explores nothing",
            "Take the best validated policy, or train again with more entropy (PpoConfig.entropy, "
            "PpoConfig.temperature, BcConfig.label_smoothing)",
        )
    for name in ("return_deviation", "improvement_deviation"):
        if all(each.get(name, math.inf) <= rules.lowest_deviation for each in recent):
            return DivergenceError(
                Divergence.EQUAL_RETURNS,
                where,
                f"all returns have been equal {times}: no decision is better than another",
                "Use modules with decisions that change the score, more of them, or more exploration",
            )
    return None


def answer_to(error: DivergenceError, wanted: OnDivergence, rollbacks: int, rules: DivergenceRules) -> OnDivergence:
    """What to do about `error`, `rollbacks` having been done before.

    A collapse of the entropy or equal returns stop the run in any case: the checkpoint before the update is no better,
    and a slower step does not make decisions differ.
    """
    curable = error.kind in (Divergence.NOT_FINITE, Divergence.EXPLODED)
    return wanted if curable and rollbacks < rules.most_rollbacks else OnDivergence.STOP


def slowed(config: _Config, rollbacks: int, rules: DivergenceRules) -> _Config:
    """`config`, of any learner, with its learning rate, or else its step, reduced for so many rollbacks."""
    if not rollbacks:
        return config
    pace = "learning_rate" if hasattr(config, "learning_rate") else "step"
    return dataclasses.replace(config, **{pace: getattr(config, pace) * rules.slow_down**rollbacks})
