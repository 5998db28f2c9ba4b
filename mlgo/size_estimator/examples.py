"""Functions with the properties of their optimised IR and the bytes of their code."""

import contextlib
import dataclasses
import itertools
import pathlib
from collections.abc import Mapping

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
        kept = [name not in seen for name in self.functions]
        return Examples(
            tuple(itertools.compress(self.modules, kept)),
            tuple(itertools.compress(self.functions, kept)),
            self.features[kept],
            self.names,
            self.code_bytes[kept],
        )


def examples_of(modules: Mapping[str, tuple[Mapping[str, Mapping[str, int]], Mapping[str, int]]]) -> Examples:
    """Examples of modules, each (properties by function, code bytes by function); features are sorted by name."""
    rows = [
        (module, function, properties, code[function])
        for module, (functions, code) in sorted(modules.items())
        for function, properties in sorted(functions.items())
        if code.get(function, 0) > 0
    ]
    names = tuple(sorted(rows[0][2])) if rows else ()
    modules_of, functions, properties, sizes = zip(*rows) if rows else ((), (), (), ())
    counts = np.array([[each[name] for name in names] for each in properties], np.float64)
    features = counts.reshape(len(rows), len(names))
    return Examples(modules_of, functions, features, names, np.array(sizes, np.float64))


def collect(folder: pathlib.Path, corpus: Corpus, setup: CompileSetup, opt: pathlib.Path, title: str) -> Examples:
    """Optimises `corpus` into `folder`, generates its code and reads both; resumes an interrupted call. Raises:
    RunError: more modules failed than allowed, or opt does not work.
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
            sizes = {function.name: function.size for function in outcome.code.functions}
            found[module.name] = properties_of(module.bitcode_file(), opt), sizes
    return examples_of(found)
