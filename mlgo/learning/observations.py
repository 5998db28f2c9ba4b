"""The layout training runs on: one row of levels per legal candidate, made once per observation.

An observation of a masked problem has P positions of which a few are legal (eviction: 6.7 of 33). Only these become
rows, so matrix products are five times smaller than over all positions, and normalisation is not repeated in every epoch.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from mlgo.learning.normalization import Normalizer
from mlgo.problems.problem import Problem

#: Observations packed at a time: keeps the working set of the normalisation (33 positions x 8 bytes x features) in cache.
_BLOCK = 2048


class ObservationError(ValueError):
    """Observations cannot be learned from; says which one and why."""


@dataclasses.dataclass(frozen=True)
class Observations:
    """N observations with M rows altogether, and the decisions taken.

    Attributes:
      levels: uint8 [M, D], the rows of all observations one after another.
      offsets: int64 [N + 1]; observation n has the rows offsets[n] .. offsets[n + 1] - 1, at least one.
      positions: int32 [M], the row's position in 0 .. P - 1.
      chosen: int64 [N], index into the rows: the row that was decided for.
      group: int64 [N], which function (context) the observation belongs to.
      position_count: P.
    """

    levels: np.ndarray
    offsets: np.ndarray
    positions: np.ndarray
    chosen: np.ndarray
    group: np.ndarray
    position_count: int

    def __len__(self) -> int:
        return len(self.chosen)

    @property
    def row_count(self) -> int:
        return len(self.levels)

    @property
    def actions(self) -> np.ndarray:
        """int64 [N], the position decided for."""
        return self.positions[self.chosen].astype(np.int64)

    def row_observation(self) -> np.ndarray:
        """int32 [M], which observation a row belongs to."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.offsets))

    def summaries(self) -> np.ndarray:
        """float32 [N, D]: mean of each column over the observation's rows, in levels: what the value network sees."""
        total = np.add.reduceat(self.levels, self.offsets[:-1], axis=0, dtype=np.int32)
        return total.astype(np.float32) / np.diff(self.offsets).astype(np.float32)[:, None]

    def select(self, which: np.ndarray) -> "Observations":
        """The observations with the given indices, in the given order."""
        which = np.asarray(which, np.int64)
        rows = rows_of(self.offsets, which)
        counts = np.diff(self.offsets)[which]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        chosen = offsets[:-1] + (self.chosen[which] - self.offsets[which])
        return Observations(
            self.levels[rows], offsets, self.positions[rows], chosen, self.group[which], self.position_count
        )


def rows_of(offsets: np.ndarray, which: np.ndarray) -> np.ndarray:
    """int64 [sum of rows], the rows of observations `which`, in that order."""
    counts = np.diff(offsets)[which]
    ends = np.cumsum(counts)
    within = np.arange(ends[-1] if len(ends) else 0, dtype=np.int64) - np.repeat(ends - counts, counts)
    return np.repeat(offsets[which], counts) + within


def pack(
    features: Mapping[str, np.ndarray],
    actions: np.ndarray,
    normalizer: Normalizer,
    problem: Problem,
    group: np.ndarray | None = None,
) -> Observations:
    """Levels of the legal candidates of N observations.

    Args:
      features: observation name -> [N, *shape], as `read_training_log` returns them.
      actions: [N], the position decided for.
      group: int [N], the function each observation belongs to; all the same when absent.

    Raises:
      ObservationError: an observation has no legal candidate, or its decision is not legal; names the first.
    """
    if problem.mask_feature is None:
        raise ObservationError(f"problem {problem.name} has no mask: only choices among masked candidates are supported")
    count = len(actions)
    positions_each = problem.observation_spec(problem.mask_feature).element_count
    legal = np.asarray(features[problem.mask_feature]).reshape(count, positions_each) > 0
    row_counts = legal.sum(axis=1)
    actions = np.asarray(actions).reshape(count).astype(np.int64)
    in_range = (actions >= 0) & (actions < positions_each)
    chosen_legal = in_range & legal[np.arange(count), np.where(in_range, actions, 0)]
    if not chosen_legal.all():
        first = int(np.argmin(chosen_legal))
        raise ObservationError(
            f"observation {first} of {count}: decision {actions[first]} is not among the legal positions "
            f"{np.flatnonzero(legal[first]).tolist()}; the log is damaged or of another problem"
        )
    offsets = np.concatenate([[0], np.cumsum(row_counts)]).astype(np.int64)
    levels = np.empty((int(offsets[-1]), normalizer.width), np.uint8)
    positions = np.empty(int(offsets[-1]), np.int32)
    for begin in range(0, count, _BLOCK):
        end = min(begin + _BLOCK, count)
        observation, position = np.nonzero(legal[begin:end])
        rows = slice(int(offsets[begin]), int(offsets[end]))
        values = {
            name: _row_values(np.asarray(features[name])[begin:end], observation, position, positions_each)
            for name in normalizer.features
        }
        levels[rows] = normalizer.levels(values, position == positions_each - 1)
        positions[rows] = position
    before_chosen = (legal & (np.arange(positions_each) < actions[:, None])).sum(axis=1)
    group = np.zeros(count, np.int64) if group is None else np.asarray(group, np.int64)
    return Observations(levels, offsets, positions, offsets[:-1] + before_chosen, group, positions_each)


def _row_values(block: np.ndarray, observation: np.ndarray, position: np.ndarray, positions_each: int) -> np.ndarray:
    """[rows]: a per-position feature at each row's position, or a single value repeated for its observation's rows."""
    flat = block.reshape(len(block), -1)
    if flat.shape[1] == positions_each:
        return flat[observation, position]
    if flat.shape[1] == 1:
        return flat[observation, 0]
    raise ObservationError(f"a feature with {flat.shape[1]} values fits neither 1 nor {positions_each} positions")


def concatenate(parts: Sequence[Observations]) -> Observations:
    """All observations of `parts` in order; groups of different parts are made different."""
    if not parts:
        raise ObservationError("no observations at all: every module failed or had no decision")
    row_base = np.cumsum([0] + [part.row_count for part in parts])
    group_base = np.cumsum([0] + [int(part.group.max(initial=-1)) + 1 for part in parts])
    return Observations(
        np.concatenate([part.levels for part in parts]),
        np.concatenate([np.zeros(1, np.int64)] + [p.offsets[1:] + base for p, base in zip(parts, row_base)]),
        np.concatenate([part.positions for part in parts]),
        np.concatenate([part.chosen + base for part, base in zip(parts, row_base)]),
        np.concatenate([part.group + base for part, base in zip(parts, group_base)]),
        parts[0].position_count,
    )
