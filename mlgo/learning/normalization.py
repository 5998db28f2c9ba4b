"""Turns features into network inputs by a vocabulary: piecewise-linear levels with equal bits on every runtime.

A feature becomes a few columns. Column c of feature x is, in float32,

    level_c(x) = floor(relu6((min_(x, high) - start_c) * slope_c) * 32)        in {0, 1, ..., 192}

with slope_c = 6 / (end_c - start_c): the position of x between the knots start_c and end_c. Equal numbers of distinct
quantiles lie between the knots, so together the columns of one feature are its cumulative distribution, in pieces. That
contains what the papers' derived features (x, x^2, sqrt x of the quantile; ml-compiler-opt,
compiler_opt/rl/feature_ops.py) approximate, without Bucketize and sqrt, which is not the same in every runtime.

Equal bits: a subtraction, a multiplication, comparisons, a multiplication and floor, each correctly rounded by IEEE 754
and never a product that feeds a sum, which a compiler could fuse. `min_(x, high)` is `x if x < high else high`, so NaN
and +inf become `high`: in LLVM's logs NaN is inf/inf, the weight of a range that must not be spilled. -inf becomes 0.
int64 features are converted to float32 first: exact up to 2^24, above that rounded to nearest, and monotone.
"""

import dataclasses
import hashlib
import itertools
import json
import math
import os
import pathlib
from collections.abc import Mapping, Sequence

import numpy as np

from mlgo.problems.ir2vec import split_element
from mlgo.problems.problem import Problem
from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import read_text

#: The largest level: relu6's 6 times LEVELS_PER_UNIT. Fits into one byte.
TOP_LEVEL = 192
#: Exact factor from relu6's range to levels (a power of two).
LEVELS_PER_UNIT = 32.0
RELU_TOP = 6.0
#: The network multiplies levels by this power of two: inputs lie in [0, 1.5].
LEVEL_SCALE = 2.0**-7

#: Segments per feature: about as many columns as the papers have inputs. Cloning 5,758 decisions of four modules of
#: LLVM repeated 90.1, 90.9 and 90.9 % of held-back ones with 2, 4 and 8 segments.
DEFAULT_SEGMENTS = 4
#: The same per number of an embedding. There are 150 such numbers, and each segment is a column.
EMBEDDING_SEGMENTS = 2
MAX_SEGMENTS = 32
#: A vocabulary file is refused above this size; 1,000 quantiles take 20 KB.
MAX_VOCABULARY_BYTES = 16 * 1024 * 1024


@dataclasses.dataclass(frozen=True)
class Column:
    """One piece of one feature: level 0 at `start` and below, TOP_LEVEL at `end` and above (both float32 values).

    Each number of an embedding is a feature of its own here, "callee_embedding[3]" (Problem.elements).
    """

    feature: str
    start: float
    end: float

    @property
    def slope(self) -> np.float32:
        """float32(6 / (end - start)): the constant that every runtime multiplies by."""
        return np.float32(RELU_TOP / (float(self.end) - float(self.start)))


@dataclasses.dataclass(frozen=True)
class Normalizer:
    """The normalisation of one problem, made from its vocabulary; immutable."""

    problem_name: str
    columns: tuple[Column, ...]  #: in the order of the problem's observations, features without information left out.
    dropped: tuple[str, ...] = ()  #: features that had one value (or no finite one) in the vocabulary.
    #: one more column, TOP_LEVEL at the last position of a masked problem and 0 elsewhere. LLVM puts the asking
    #: candidate there (MLRegAllocEvictAdvisor.cpp: "The last position corresponds to the virt reg seeking allocation");
    #: the papers' network cannot tell it from the others.
    mark_last_position: bool = True

    @property
    def width(self) -> int:
        return len(self.columns) + int(self.mark_last_position)

    @property
    def features(self) -> tuple[str, ...]:
        """The features that are looked at, in the order of the columns."""
        return tuple(dict.fromkeys(column.feature for column in self.columns))

    @property
    def tensors(self) -> tuple[str, ...]:
        """The observations that `features` belong to, in the same order."""
        return tuple(dict.fromkeys(split_element(feature)[0] for feature in self.features))

    def highest(self, feature: str) -> np.float32:
        """The value above which (and for NaN) `feature` is taken as this value."""
        return np.float32(max(column.end for column in self.columns if column.feature == feature))

    def levels(self, values: Mapping[str, np.ndarray], is_last: np.ndarray) -> np.ndarray:
        """uint8 [M, width]: the levels of M rows.

        Args:
          values: feature -> [M], float32 or int64, one value per row; may hold NaN and infinities.
          is_last: bool [M], whether the row is its observation's last position.
        """
        rows = len(is_last)
        result = np.empty((rows, self.width), np.uint8)
        cut: dict[str, np.ndarray] = {}
        with np.errstate(invalid="ignore", over="ignore"):
            for feature in self.features:
                highest, x = self.highest(feature), np.asarray(values[feature]).astype(np.float32)
                if x.shape != (rows,):
                    raise ValueError(f"feature {feature} has shape {x.shape}, expected ({rows},)")
                cut[feature] = np.where(x < highest, x, highest)
            for index, column in enumerate(self.columns):
                position = (cut[column.feature] - np.float32(column.start)) * column.slope
                position = np.minimum(np.maximum(position, np.float32(0)), np.float32(RELU_TOP))
                result[:, index] = np.floor(position * np.float32(LEVELS_PER_UNIT))
        if self.mark_last_position:
            result[:, -1] = np.where(is_last, TOP_LEVEL, 0)
        return result

    def values(self, observations: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """feature -> [N], from observations with one row each: name -> [N, *shape]."""
        found = {}
        for feature in self.features:
            tensor, index = split_element(feature)
            array = np.asarray(observations[tensor])
            flat = array.reshape(len(array), math.prod(array.shape[1:]))
            if index >= flat.shape[1] or (feature == tensor and flat.shape[1] != 1):
                raise ValueError(f"feature {feature} is not among the {flat.shape[1]} values of {tensor}")
            found[feature] = flat[:, index]
        return found

    def to_json(self) -> dict:
        return {
            "problem": self.problem_name,
            "columns": [[column.feature, float(column.start), float(column.end)] for column in self.columns],
            "dropped": list(self.dropped),
            "mark_last_position": self.mark_last_position,
        }

    @classmethod
    def from_json(cls, value: Mapping) -> "Normalizer":
        """Raises: ValueError: `value` is not what `to_json` makes."""
        try:
            columns = tuple(Column(_text(name), float(start), float(end)) for name, start, end in value["columns"])
            dropped = tuple(_text(name) for name in value["dropped"])
            result = cls(_text(value["problem"]), columns, dropped, bool(value["mark_last_position"]))
        except (KeyError, TypeError, OverflowError) as error:
            raise ValueError(f"not the description of a normaliser: {error!r}") from error
        for column in columns:
            if not _usable(column):
                raise ValueError(f"column {column} is not finite and increasing in float32")
        return result

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode("utf-8")).hexdigest()


def load_normalizer(
    vocabulary_dir: str | os.PathLike[str],
    problem: Problem,
    segments: int = DEFAULT_SEGMENTS,
    knots: Mapping[str, Sequence[float]] | None = None,
) -> Normalizer:
    """The normaliser of `problem` from the files `<feature>.buckets` in `vocabulary_dir`, or with `knots` as they say.

    A file holds one number per line, sorted quantiles, as ml-compiler-opt's sparse_bucket_generator.py writes them;
    each number of an embedding has a file of its own.

    Raises: RunError: a file is missing, too large, or holds something that is not a number; no feature has information;
      or a feature of `knots` is none of the problem's.
    """
    if knots:
        return chosen_normalizer(knots, problem)
    folder = pathlib.Path(vocabulary_dir)
    quantiles = {name: _read_vocabulary(folder / f"{name}.buckets") for name in shown_features(problem)}
    return build_normalizer(quantiles, problem, segments, source=f"vocabulary {folder}")


def _read_vocabulary(path: pathlib.Path) -> np.ndarray:
    """The quantiles in one `.buckets` file, float64 [Q]; NaN and infinities are kept."""
    remedy = "Make the vocabulary again from a default trace (./bazelw run //mlgo:sparse_bucket_generator)"
    lines = read_text(path, MAX_VOCABULARY_BYTES, "vocabulary file", remedy).split()
    try:
        return np.array([float(line) for line in lines], np.float64)
    except ValueError as error:
        raise RunError(f"vocabulary file {path}", f"holds something that is not a number: {error}", remedy) from error


def build_normalizer(
    quantiles: Mapping[str, Sequence[float] | np.ndarray],
    problem: Problem,
    segments: int = DEFAULT_SEGMENTS,
    source: str = "vocabulary",
) -> Normalizer:
    """The normaliser for sorted quantiles per feature; the mask needs none. Raises: RunError: no feature has two
    different values; ValueError: `segments` is not in 1..MAX_SEGMENTS.
    """
    if not 1 <= segments <= MAX_SEGMENTS:
        raise ValueError(f"segments is {segments}, must lie in 1..{MAX_SEGMENTS}")
    knots = {}
    for name in shown_features(problem):
        is_embedding = split_element(name)[0] in problem.embeddings
        most = min(segments, EMBEDDING_SEGMENTS) if is_embedding else segments
        knots[name] = choose_knots(np.asarray(quantiles[name], np.float64), most)
    normalizer = _normalizer_of(knots, problem)
    if not normalizer.columns:
        raise RunError(source, "has no feature with two different values", "Trace modules which have decisions")
    return normalizer


def _normalizer_of(knots: Mapping[str, Sequence[float]], problem: Problem) -> Normalizer:
    """Cuts features at `knots`; those with fewer than two are dropped."""
    shown = shown_features(problem)
    columns = [Column(name, *ends) for name in shown for ends in itertools.pairwise(knots.get(name, ()))]
    dropped = tuple(name for name in shown if len(knots.get(name, ())) < 2)
    marked = problem.mask_feature is not None
    return Normalizer(problem.policy_name, tuple(columns), dropped, mark_last_position=marked)


def shown_features(problem: Problem) -> list[str]:
    """The features that are normalised, in the problem's order: all but the mask."""
    specs = [spec for spec in problem.observation_specs if spec.name != problem.mask_feature]
    return [name for spec in specs for name in problem.elements(spec)]


def chosen_normalizer(knots: Mapping[str, Sequence[float]], problem: Problem) -> Normalizer:
    """The normaliser that looks at the features of `knots` only, each cut at these values. Raises: RunError: a feature
    is none of the problem's, or its values are fewer than two or do not increase.
    """
    remedy = "Correct NetworkConfig.knots in the gin file"
    shown = shown_features(problem)
    if unknown := sorted(set(knots) - set(shown)):
        wrong = f"names {', '.join(unknown)}, and {problem.name} has {', '.join(shown)}"
        raise RunError("NetworkConfig.knots", wrong, remedy)
    chosen = {name: [float(value) for value in knots[name]] for name in shown if name in knots}
    for name, cuts in chosen.items():
        if len(cuts) < 2 or not all(_usable(Column(name, *ends)) for ends in itertools.pairwise(cuts)):
            wrong = f"is {cuts}: needs two or more finite values that increase"
            raise RunError(f"NetworkConfig.knots[{name!r}]", wrong, remedy)
    return _normalizer_of(chosen, problem)


def choose_knots(quantiles: np.ndarray, segments: int) -> list[float]:
    """At most `segments` + 1 increasing float32 values, from the smallest to the largest finite quantile, equally many
    distinct quantiles apart: a value that fills half of the distribution (zero, usually) counts once, so the knots go
    where values differ. Fewer than two: constant.
    """
    finite = quantiles[np.isfinite(quantiles) & (np.abs(quantiles) < np.finfo(np.float32).max)]
    distinct = np.unique(finite.astype(np.float32))
    if len(distinct) > segments + 1:
        distinct = distinct[np.round(np.linspace(0, len(distinct) - 1, segments + 1)).astype(int)]
    knots: list[float] = []
    for value in distinct.tolist():
        # Neighbours so close that the slope would overflow, or so far that it would vanish, count as one value.
        if not knots or _usable(Column("", knots[-1], value)):
            knots.append(value)
    return knots


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is not a text")
    return value


def _usable(column: Column) -> bool:
    if not column.end > column.start:
        return False
    with np.errstate(over="ignore"):
        return 2.0**-120 < column.slope < 2.0**120
