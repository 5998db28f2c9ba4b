"""Functions with the properties of their optimised IR and the bytes of their code."""

import contextlib
import dataclasses
import itertools
import pathlib
from collections.abc import Mapping, Sequence

import numpy as np

from mlgo.compiler.request import CompileFailure
from mlgo.corpus.corpus import Corpus
from mlgo.size_estimator.properties import properties_of
from mlgo.trace.optimised_corpus import optimise_corpus
from mlgo.trace.outcomes import FailureLimit
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import compile_modules


@dataclasses.dataclass(frozen=True)
class Examples:
    """N functions: the module, name and code bytes (> 0) of each, and `features` float64 [N, F], counts of `names`."""

    modules: tuple[str, ...]
    functions: tuple[str, ...]
    features: np.ndarray
    names: tuple[str, ...]
    code_bytes: np.ndarray

    def without_names_of(self, other: "Examples") -> "Examples":
        """The functions whose names do not occur in `other`; inline functions occur in many modules."""
        seen = set(other.functions)
        return self.select([index for index, name in enumerate(self.functions) if name not in seen])

    def select(self, indices: Sequence[int]) -> "Examples":
        chosen = np.asarray(indices, np.int64)
        return dataclasses.replace(
            self,
            modules=tuple(self.modules[index] for index in indices),
            functions=tuple(self.functions[index] for index in indices),
            features=self.features[chosen],
            code_bytes=self.code_bytes[chosen],
        )


def examples_of(modules: Mapping[str, tuple[Mapping[str, Mapping[str, int]], Mapping[str, int]]]) -> Examples:
    """Examples of modules, each (properties by function, code bytes by function); features are sorted by name."""
    rows = [
        (module, function, properties, code[function])
        for module, (functions, code) in sorted(modules.items())
        for function, properties in sorted(functions.items())
        if code.get(function, 0) > 0
    ]
    names = sorted(rows[0][2]) if rows else []
    return Examples(
        modules=tuple(row[0] for row in rows),
        functions=tuple(row[1] for row in rows),
        features=np.array([[row[2][name] for name in names] for row in rows], np.float64).reshape(
            len(rows), len(names)
        ),
        names=tuple(names),
        code_bytes=np.array([row[3] for row in rows], np.float64),
    )


def collect(folder: pathlib.Path, corpus: Corpus, setup: CompileSetup, opt: pathlib.Path, title: str) -> Examples:
    """Optimises `corpus` into `folder`, generates its code and reads both; resumes an interrupted call.

    Raises: RunError: more modules failed than allowed, or opt does not work.
    """
    optimise_corpus(folder, corpus, setup, f"{title}: optimising")
    optimised = Corpus.load(folder, corpus.allowed_options).modules
    failures = FailureLimit(f"{title}: generating code", len(optimised), setup.max_failure_ratio)
    outcomes = compile_modules(optimised, setup, itertools.repeat(None), itertools.repeat(False))
    found = {}
    with contextlib.closing(outcomes):
        for module, outcome in outcomes:
            if isinstance(outcome, CompileFailure):
                failures.add(module.name, outcome.kind.value, outcome.detail)
                continue
            code = outcome.code
            sizes = {function.name: function.size for function in code.functions}
            found[module.name] = properties_of(module.bitcode_file(), opt), sizes
    return examples_of(found)
