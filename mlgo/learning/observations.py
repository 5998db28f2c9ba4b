"""The layout of training data: one row of levels per legal candidate, computed once per observation.

An observation of a masked problem has P positions of which a few are legal (eviction: 6.7 of 33). Only these become
rows, so matrix products are five times smaller than over all positions, and normalisation is not repeated in every
epoch. An observation of a binary or continuous decision is one row.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from mlgo.learning.normalization import Normalizer
from mlgo.problems.problem import Problem
from mlgo.run.determinism import generator

#: `Problem.decision_kind`.
DecisionKind = Literal["categorical", "binary", "continuous"]

_ARRAYS = ("levels", "offsets", "positions", "chosen", "group", "outputs")

#: Observations packed at a time: keeps the working set of the normalisation (33 positions x 8 bytes x features) in
#: cache.
_BLOCK = 2048


class ObservationError(ValueError):
    """Observations are unusable."""


@dataclasses.dataclass(frozen=True)
class Observations:
    """N observations with M rows altogether, and the decisions taken."""

    levels: np.ndarray  #: uint8 [M, D], the rows of all observations one after another.
    offsets: np.ndarray  #: int64 [N + 1]; observation n has the rows offsets[n] .. offsets[n + 1] - 1, at least one.
    positions: np.ndarray  #: int32 [M], the row's position in 0 .. P - 1.
    chosen: np.ndarray  #: int64 [N], index of the chosen row; of the only row unless the decision is categorical.
    group: np.ndarray  #: int64 [N], which function (context) the observation belongs to.
    position_count: int  #: P; 1 unless the decision is categorical.
    kind: DecisionKind = "categorical"
    #: float32 [N], the decisions if binary (0 or 1) or continuous (in units of the network's output,
    #: `Problem.output_unit`). None if categorical.
    outputs: np.ndarray | None = None
    #: upper limit of the network's output for continuous decisions (`Problem.max_output`).
    max_output: float | None = None

    def __len__(self) -> int:
        return len(self.chosen)

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name, for a checkpoint."""
        found = {name: getattr(self, name) for name in _ARRAYS}
        return {name: array for name, array in found.items() if array is not None}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], problem: Problem) -> "Observations":
        """The observations of `problem` that `arrays()` gave; other names in `arrays` are ignored."""
        return cls(
            **{name: arrays.get(name) for name in _ARRAYS},
            position_count=(problem.action_count or 1) if problem.decision_kind == "categorical" else 1,
            kind=problem.decision_kind,
            max_output=problem.max_output,
        )

    @property
    def row_count(self) -> int:
        return len(self.levels)

    @property
    def actions(self) -> np.ndarray:
        """[N], the decisions: int64, the position or 0 and 1; float32, the number as in `outputs`."""
        if self.kind == "continuous":
            return self.numbers
        return (self.positions[self.chosen] if self.kind == "categorical" else self.numbers).astype(np.int64)

    @property
    def numbers(self) -> np.ndarray:
        """`outputs` of decisions that are not categorical."""
        assert self.outputs is not None, "categorical decisions have no outputs"
        return self.outputs

    @property
    def chosen_values(self) -> np.ndarray:
        """[N], what was decided as distribution.py takes it: int32, the row; or float32, the output."""
        return self.chosen.astype(np.int32) if self.kind == "categorical" else self.numbers

    def tensors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What gradient steps take (optimizer.py, StepSpecs): levels, row_observation, chosen_values."""
        return self.levels, self.row_observation(), self.chosen_values

    def row_observation(self) -> np.ndarray:
        """int32 [M], which observation a row belongs to."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.offsets))

    def summaries(self) -> np.ndarray:
        """float32 [N, D]: mean of each column over the observation's rows, in levels, for the value network."""
        total = np.add.reduceat(self.levels, self.offsets[:-1], axis=0, dtype=np.int32)
        return total.astype(np.float32) / np.diff(self.offsets).astype(np.float32)[:, None]

    def select(self, which: np.ndarray) -> "Observations":
        which = np.asarray(which, np.int64)
        rows = rows_of(self.offsets, which)
        offsets = _offsets(np.diff(self.offsets)[which])
        return dataclasses.replace(
            self,
            levels=self.levels[rows],
            offsets=offsets,
            positions=self.positions[rows],
            chosen=offsets[:-1] + (self.chosen[which] - self.offsets[which]),
            group=self.group[which],
            outputs=None if self.outputs is None else self.outputs[which],
        )

    def parts(self, size: int) -> Iterator["Observations"]:
        """All observations in order, `size` at a time; without any, one empty part."""
        for begin in range(0, max(1, len(self)), size):
            yield self.select(np.arange(begin, min(begin + size, len(self))))


def _offsets(counts: np.ndarray) -> np.ndarray:
    """As `Observations.offsets`, of observations with `counts` rows."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def rows_of(offsets: np.ndarray, which: np.ndarray) -> np.ndarray:
    """int64 [sum of rows], the rows of observations `which`, in that order."""
    counts = np.diff(offsets)[which]
    ends = np.cumsum(counts)
    within = np.arange(ends[-1] if len(ends) else 0, dtype=np.int64) - np.repeat(ends - counts, counts)
    return np.repeat(offsets[which], counts) + within


def minibatches(count: int, size: int, seed: int, *stream: int | str) -> list[np.ndarray]:
    """Indices 0 .. count - 1 in random order, in equal parts of at most `size`, without a small remainder."""
    return np.array_split(generator(seed, *stream).permutation(count), math.ceil(count / size))


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
      actions: [N], the decisions as logged.
      group: int [N], the function each observation belongs to; all the same when absent.

    Raises: ObservationError: an observation has no legal candidate, or its decision is illegal; names the first.
    """
    actions = np.asarray(actions).reshape(len(actions))
    group = np.zeros(len(actions), np.int64) if group is None else np.asarray(group, np.int64)
    if problem.decision_kind == "categorical":
        return _pack_choices(features, actions.astype(np.int64), normalizer, problem, group)
    return _pack_single_rows(features, actions, normalizer, problem, group)


def _check_legal(actions: np.ndarray, legal: np.ndarray, why: Callable[[int], str]) -> None:
    """Args: legal: bool [N]; why: completes "decision 3 is not ", by the number of the observation."""
    if not legal.all():
        first = int(np.argmin(legal))
        raise ObservationError(
            f"observation {first} of {len(actions)}: decision {actions[first]} is not {why(first)}; "
            "the log is damaged or of another problem"
        )


def _pack_single_rows(features, actions, normalizer: Normalizer, problem: Problem, group: np.ndarray) -> Observations:
    count = len(actions)
    assert problem.action_bounds is not None  # Problem sees to it.
    lowest, highest = problem.action_bounds
    # False for NaN.
    _check_legal(actions, (actions >= lowest) & (actions <= highest), lambda _: f"within {lowest} .. {highest}")
    return Observations(
        levels=normalizer.levels(normalizer.values(features), np.ones(count, bool)),
        offsets=np.arange(count + 1, dtype=np.int64),
        positions=np.zeros(count, np.int32),
        chosen=np.arange(count, dtype=np.int64),
        group=group,
        position_count=1,
        kind=problem.decision_kind,
        # The unit is a power of two: nothing is rounded.
        outputs=(actions.astype(np.float32) / np.float32(problem.output_unit or 1)).astype(np.float32),
        max_output=problem.max_output,
    )


def _pack_choices(features, actions, normalizer: Normalizer, problem: Problem, group: np.ndarray) -> Observations:
    count = len(actions)
    assert problem.mask_feature is not None  # Problem sees to it.
    positions_each = problem.observation_spec(problem.mask_feature).element_count
    legal = np.asarray(features[problem.mask_feature]).reshape(count, positions_each) > 0
    in_range = (actions >= 0) & (actions < positions_each)
    chosen_legal = in_range & legal[np.arange(count), np.where(in_range, actions, 0)]
    _check_legal(actions, chosen_legal, lambda n: f"among the legal positions {np.flatnonzero(legal[n]).tolist()}")
    offsets = _offsets(legal.sum(axis=1))
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
    return dataclasses.replace(
        parts[0],
        levels=np.concatenate([part.levels for part in parts]),
        offsets=np.concatenate([np.zeros(1, np.int64)] + [p.offsets[1:] + base for p, base in zip(parts, row_base)]),
        positions=np.concatenate([part.positions for part in parts]),
        chosen=np.concatenate([part.chosen + base for part, base in zip(parts, row_base)]),
        group=np.concatenate([part.group + base for part, base in zip(parts, group_base)]),
        outputs=None if parts[0].outputs is None else np.concatenate([part.numbers for part in parts]),
    )
