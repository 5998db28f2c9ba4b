"""The vocabulary: quantiles of every feature over the default trace; mlgo/learning/normalization.py reads them.

A vocabulary is a folder with one text file `FEATURE.buckets` per observation: ascending numbers, one a line, as
ml-compiler-opt's sparse_bucket_generator writes them.
"""

import dataclasses
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any

import gin
import numpy as np

from mlgo.problems.problem import Problem
from mlgo.run import files, manifest, progress
from mlgo.trace import arrays
from mlgo.trace.trace import Decisions, Trace

SUFFIX = ".buckets"

#: What an interrupted run has sampled so far; removed at the end.
_STATE_NAME = "sampled.arrays"


@gin.configurable
@dataclasses.dataclass(frozen=True)
class VocabularyConfig:
    """How feature values are sampled.

    Attributes:
      quantiles: lines per file, >= 2; 1,000 as in ml-compiler-opt.
      sample_size: values kept per feature, >= 1. At 200,000 a quantile is off by at most about 0.3 percent of rank.
      checkpoint_modules: after how many modules the state is saved; changes no output.
    """

    quantiles: int = 1000
    sample_size: int = 200_000
    checkpoint_modules: int = 256

    def __post_init__(self):
        if self.quantiles < 2 or self.sample_size < 1 or self.checkpoint_modules < 1:
            raise ValueError(f"quantiles must be >= 2, sample_size and checkpoint_modules >= 1: {self}")


class Sample:
    """A uniform sample without replacement from a stream of unknown length.

    Every value gets a random key; the values with the smallest keys stay. Which ones these are does not depend on the
    order of the stream, so an interrupted stream can be taken up again.
    """

    def __init__(self, size: int, keys: np.ndarray | None = None, values: np.ndarray | None = None):
        self._size = size
        self.keys = np.empty(0, np.float64) if keys is None else keys
        self.values = np.empty(0, np.float64) if values is None else values

    def add(self, values: np.ndarray, generator: np.random.Generator) -> None:
        """Adds `values`, float64 [K]; their keys come from `generator`."""
        keys = generator.random(len(values))
        if len(self.keys) == self._size:
            kept = keys < self.keys.max()
            keys, values = keys[kept], values[kept]
        self.keys = np.concatenate([self.keys, keys])
        self.values = np.concatenate([self.values, values])
        if len(self.keys) > self._size:
            smallest = np.argpartition(self.keys, self._size - 1)[: self._size]
            self.keys, self.values = self.keys[smallest], self.values[smallest]


def build_vocabulary(
    folder: pathlib.Path, trace: Trace, problem: Problem, config: VocabularyConfig, seed: int
) -> Mapping[str, Any]:
    """Writes the vocabulary of `trace` into `folder`; goes on where an interrupted run stopped.

    Positions that the problem's mask rules out hold padding and are left out.

    Returns: counts for the manifest.
    """
    state_path = folder / _STATE_NAME
    names = trace.traced
    done, samples = _load_state(state_path, problem, config)
    shown = progress.start("vocabulary", len(names), "modules", done=done)
    for index in range(done, len(names)):
        # One generator per module: what is drawn for it depends on nothing that came before.
        generator = np.random.Generator(np.random.Philox(key=[seed, index]))
        for feature, values in _values(trace.decisions(names[index], problem), problem):
            samples[feature].add(values, generator)
        if (index + 1) % config.checkpoint_modules == 0:
            _save_state(state_path, index + 1, samples)
        shown.advance()
    shown.close()
    ranks = np.linspace(0.0, 1.0, config.quantiles)
    for feature, sample in samples.items():
        quantiles = np.quantile(np.sort(sample.values), ranks)
        text = "".join(f"{value!r}\n" for value in quantiles.tolist())
        files.write_atomically(folder / f"{feature}{SUFFIX}", text.encode("ascii"))
    state_path.unlink(missing_ok=True)
    return {"modules": len(names), "features": len(samples)}


def digest_of_vocabulary(folder: pathlib.Path, problem: Problem) -> str:
    """sha256 in hex over the files of all features."""
    digests = manifest.digests_of(folder, [f"{spec.name}{SUFFIX}" for spec in problem.observation_specs])
    return manifest.digest_of_bytes(files.encode_json(digests))


def _values(decisions: Decisions, problem: Problem) -> Iterator[tuple[str, np.ndarray]]:
    mask = None if problem.mask_feature is None else decisions.features[problem.mask_feature] != 0
    for name, values in decisions.features.items():
        if mask is not None and values.shape == mask.shape and name != problem.mask_feature:
            values = values[mask]
        flat = values.astype(np.float64).ravel()
        yield name, flat[np.isfinite(flat)]


def _load_state(
    path: pathlib.Path, problem: Problem, config: VocabularyConfig
) -> tuple[int, dict[str, Sample]]:
    names = [spec.name for spec in problem.observation_specs]
    if not path.exists():
        return 0, {name: Sample(config.sample_size) for name in names}
    state = arrays.decode(path.read_bytes(), f"state of the vocabulary ({path})")
    samples = {name: Sample(config.sample_size, state[f"{name}:keys"], state[f"{name}:values"]) for name in names}
    return int(state["done"]), samples


def _save_state(path: pathlib.Path, done: int, samples: Mapping[str, Sample]) -> None:
    state = {"done": np.array(done, np.int64)}
    for name, sample in samples.items():
        state[f"{name}:keys"], state[f"{name}:values"] = sample.keys, sample.values
    files.write_atomically(path, arrays.encode(state))
