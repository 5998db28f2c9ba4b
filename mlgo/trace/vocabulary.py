"""The vocabulary: quantiles of every feature over the default trace; mlgo/learning/normalization.py reads them.

A vocabulary is a folder with one text file `FEATURE.buckets` per observation: ascending numbers, one a line, as
ml-compiler-opt's sparse_bucket_generator writes them. Each number of an embedding has a file of its own,
`callee_embedding[3].buckets`.
"""

import contextlib
import dataclasses
import os
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any

import gin
import numpy as np

from mlgo.problems.problem import Problem
from mlgo.run import files, manifest, progress
from mlgo.run.exit_codes import RunError
from mlgo.run.write_queue import read_ahead
from mlgo.trace import arrays
from mlgo.trace.trace import Decisions, Trace

SUFFIX = ".buckets"

#: What an interrupted run has sampled so far; removed at the end.
_STATE_NAME = "sampled.arrays"

#: Modules read ahead per thread. A module takes 10 MB while it is read.
_AHEAD = 2


@gin.configurable
@dataclasses.dataclass(frozen=True)
class VocabularyConfig:
    """How feature values are sampled."""

    quantiles: int = 1000  #: lines per file, >= 2; 1,000 as in ml-compiler-opt.
    #: about how many observations are kept of a trace that has more, >= 1. With 50,000, the error of a quantile is at
    #: most 0.45 percent of rank (1.96 standard deviations, if all positions of an observation agree).
    sample_size: int = 50_000
    sampling_fraction: float = 1.0  #: of them, the part that is kept, in (0, 1]; ml-compiler-opt's flag.
    checkpoint_modules: int = 4096  #: after how many modules the state is saved; changes no output.

    def __post_init__(self):
        if self.quantiles < 2 or self.sample_size < 1 or self.checkpoint_modules < 1:
            raise ValueError(f"quantiles must be >= 2, sample_size and checkpoint_modules >= 1: {self}")
        if not 0 < self.sampling_fraction <= 1:
            raise ValueError(f"VocabularyConfig.sampling_fraction={self.sampling_fraction}: must lie in (0, 1]")


def build_vocabulary(
    folder: pathlib.Path, trace: Trace, problem: Problem, config: VocabularyConfig, seed: int
) -> Mapping[str, Any]:
    """Writes the vocabulary of `trace` into `folder`; goes on where an interrupted run stopped.

    Every observation is kept with the same probability, by a number drawn for it from (seed, module, place). Memory
    depends on the size of the sample and on the largest modules, not on the length of the trace. Positions that the
    mask rules out hold padding and are left out.

    Returns: counts for the manifest.
    Raises: RunError: a module's decisions are damaged.
    """
    state_path = folder / _STATE_NAME
    names = trace.traced
    total = sum(trace.records[name].decisions for name in names)
    share = config.sampling_fraction * min(1.0, config.sample_size / max(total, 1))
    done, parts = _load_state(state_path, problem)
    with contextlib.closing(progress.start("vocabulary", len(names), "modules", done=done)) as shown:
        for index, part in _parts(trace, problem, names, done, share, seed):
            parts.append(part)
            if (index + 1) % config.checkpoint_modules == 0 and index + 1 < len(names):
                parts = [{name: np.concatenate([part[name] for part in parts]) for name in parts[0]}]
                state = {"done": np.array(index + 1, np.int64), **parts[0]}
                files.write_atomically(state_path, arrays.encode(state))
            shown.advance()
    texts = {}
    for name in _features(problem):
        values = np.concatenate([part.pop(name) for part in parts]) if parts else np.empty(0)
        finite = np.sort(values[np.isfinite(values)]).astype(np.float64)
        lines = [f"{value!r}\n" for value in quantiles_of(finite, config.quantiles).tolist()]
        texts[f"{name}{SUFFIX}"] = "".join(lines).encode("ascii")
    files.write_all_atomically(folder, texts)
    state_path.unlink(missing_ok=True)
    return {"modules": len(names), "features": len(texts)}


def sampled(decisions: Decisions, problem: Problem, kept: np.ndarray) -> dict[str, np.ndarray]:
    """By feature, its values in the observations `kept` (indices), one after another; of features with one value per
    position, those at legal positions. Each number of an embedding is a feature."""
    mask_shape, legal = None, None
    if problem.mask_feature is not None:
        spec = problem.observation_spec(problem.mask_feature)
        mask_shape, width = spec.shape, spec.element_count
        mask = decisions.features[problem.mask_feature].reshape(-1, width)[kept]
        rows, positions = np.divmod(np.flatnonzero(mask), width)
        legal = kept[rows] * width + positions
    values: dict[str, np.ndarray] = {}
    for spec in problem.observation_specs:
        array = decisions.features[spec.name]
        elements = problem.elements(spec)
        if len(elements) > 1:
            values |= {name: array[kept, index] for index, name in enumerate(elements)}
        elif spec.shape == mask_shape and spec.name != problem.mask_feature:
            values[spec.name] = array.reshape(-1)[legal]
        else:
            values[spec.name] = array.reshape(-1, spec.element_count)[kept].reshape(-1)
    return values


def quantiles_of(values: np.ndarray, count: int) -> np.ndarray:
    """`count` quantiles, equally far apart, of sorted float64 values; numpy.quantile's default without its second sort.

    Returns: float64 [count]; empty when there is no value.
    """
    if len(values) < 2:
        return np.repeat(values, count)
    places = np.linspace(0.0, 1.0, count) * (len(values) - 1)
    below = np.minimum(places.astype(np.int64), len(values) - 2)
    share = places - below
    low, high = values[below], values[below + 1]
    # As numpy does, from the nearer end: the largest quantile is the largest value, exactly.
    return np.where(share < 0.5, low + (high - low) * share, high - (high - low) * (1.0 - share))


def digest_of_vocabulary(folder: pathlib.Path, problem: Problem) -> str:
    """sha256 in hex over the files of all features."""
    digests = manifest.digests_of(folder, [f"{name}{SUFFIX}" for name in _features(problem)])
    return manifest.digest_of_bytes(files.encode_json(digests))


def _features(problem: Problem) -> list[str]:
    return [name for spec in problem.observation_specs for name in problem.elements(spec)]


def _parts(
    trace: Trace, problem: Problem, names: list[str], done: int, share: float, seed: int
) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """(index, sample of module `index`) from module `done` on, in order; read by as many threads as there are cores."""

    def read(index: int) -> dict[str, np.ndarray]:
        decisions = trace.decisions(names[index], problem)
        # One generator per module: what is drawn for it depends on nothing that came before.
        drawn = np.random.Generator(np.random.Philox(key=[seed, index])).random(len(decisions.actions))
        return sampled(decisions, problem, np.flatnonzero(drawn < share))

    threads, left = len(os.sched_getaffinity(0)), range(done, len(names))
    return zip(left, read_ahead(read, left, threads, threads * _AHEAD))


def _load_state(path: pathlib.Path, problem: Problem) -> tuple[int, list[dict[str, np.ndarray]]]:
    if not path.exists():
        return 0, []
    state = arrays.read(path, "state of the vocabulary")
    done = state.pop("done", np.zeros(1))
    names = set(_features(problem))
    if done.shape or done < 0 or state.keys() != names or any(array.ndim != 1 for array in state.values()):
        raise RunError(f"state of the vocabulary ({path})", f"is not one of {problem.name}", f"Delete {path}")
    return int(done), [state]
