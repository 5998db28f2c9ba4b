"""IR2Vec's vocabulary: the seed vectors of which LLVM adds up the embedding of a function.

It is a JSON object (llvm/lib/Analysis/IR2Vec.cpp of LLVM 22, `readVocabulary`) of three sections, each a map from a
name to a vector, all of one dimension. A policy needs the vocabulary that it was trained with, so the names of
problems, traces and policies contain its identity.
"""

import dataclasses
import hashlib
import json
import math
import pathlib
import re
from collections.abc import Mapping
from typing import Any

from mlgo.run import locate
from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import read_file

#: The word after the "+" of a problem's name.
SETTING = "ir2vec"
SECTIONS = ("Opcodes", "Types", "Arguments")
#: LLVM's has 75 and 100 dimensions. More than this would make the features of one decision larger than a module's IR.
MOST_DIMENSIONS = 4096

# Options of any LLVM 22, which both name the file.
_FILE_FLAGS = ("ml-inliner-ir2vec-vocab-file", "ir2vec-vocab-path")

_ELEMENT = re.compile(r"(.*)\[([0-9]+)\]")
_IDENTITY = re.compile(r"([1-9][0-9]{0,3})\.([0-9a-f]{16})")
_MOST_BYTES = 64 * 1024**2
_FILE = "llvm/embeddings/ir2vec_vocabulary.json"
_REMEDY = "Give the vocabulary that LLVM ships, or one that llvm-ir2vec and its scripts made"


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """The identity of a vocabulary: numbers per embedding, and the first 16 digits of the file's sha256."""

    dimension: int
    digest: str

    def __post_init__(self):
        if not 1 <= self.dimension <= MOST_DIMENSIONS or not _IDENTITY.fullmatch(str(self)):
            raise ValueError(f"no identity of an IR2Vec vocabulary: {self!s:.80}")

    def __str__(self) -> str:
        return f"{self.dimension}.{self.digest}"

    @classmethod
    def parse(cls, text: str) -> "Vocabulary":
        """The vocabulary whose `str` is `text`. Raises: ValueError: `text` is none."""
        found = _IDENTITY.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r:.80} is no DIMENSION.DIGEST of an IR2Vec vocabulary")
        return cls(int(found[1]), found[2])


def vocabulary_in(path: pathlib.Path) -> Vocabulary:
    """The identity of the vocabulary in a file. Raises: RunError: it is absent, too large, or no vocabulary."""
    content = read_file(path, _MOST_BYTES, "IR2Vec vocabulary", _REMEDY)
    try:
        parsed = json.loads(content)
        dimensions = {name: _dimension(parsed, name) for name in SECTIONS}
    except (ValueError, RecursionError) as error:
        raise RunError(f"IR2Vec vocabulary {path}", f"is malformed: {error!s:.200}", _REMEDY) from error
    if len(set(dimensions.values())) != 1:
        described = ", ".join(f"{name} {dimension}" for name, dimension in dimensions.items())
        raise RunError(f"IR2Vec vocabulary {path}", f"has vectors of different dimensions: {described}", _REMEDY)
    return Vocabulary(dimensions[SECTIONS[0]], hashlib.sha256(content).hexdigest()[:16])


def built_in_file() -> pathlib.Path:
    """The vocabulary in the compilers' trees, as a runfile. Raises: RunError: the compilers have none."""
    return locate.runfile(_FILE)


def vocabulary_of(problem_name: str) -> Vocabulary | None:
    """The vocabulary in the name of a problem, if any. Raises: ValueError: what follows "+ir2vec." is no identity."""
    _, setting, identity = problem_name.partition(f"+{SETTING}.")
    return Vocabulary.parse(identity) if setting else None


def element_names(name: str, count: int) -> tuple[str, ...]:
    """The names of an embedding's numbers: ("embedding[0]", "embedding[1]", ...)."""
    return tuple(f"{name}[{index}]" for index in range(count))


def split_element(name: str) -> tuple[str, int]:
    """("embedding", 3) of "embedding[3]"; (name, 0) of a name without index."""
    found = _ELEMENT.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, 0)


def development_flags(vocabulary: Vocabulary) -> list[str]:
    """cc1 flags for our compilers, which find the vocabulary in their tree and refuse another one."""
    return ["-mllvm", f"-mlgo-ir2vec={vocabulary}"]


def flags_of_any_compiler(vocabulary: Vocabulary) -> list[str]:
    """cc1 flags for any clang 22. Raises: RunError: the compilers have another vocabulary, or none."""
    path = built_in_file()
    if (found := vocabulary_in(path)) != vocabulary:
        remedy = "Build the compilers with that vocabulary (--//llvm/embeddings:vocabulary=FILE)"
        raise RunError(f"IR2Vec vocabulary {path}", f"is {found}, and {vocabulary} is needed", remedy)
    return [part for name in _FILE_FLAGS for part in ("-mllvm", f"-{name}={path}")]


def _dimension(parsed: Any, name: str) -> int:
    section = parsed.get(name) if isinstance(parsed, Mapping) else None
    if not isinstance(section, Mapping) or not section:
        raise ValueError(f"it has no section {name!r} with vectors")
    lengths = set()
    for entry, vector in section.items():
        if not isinstance(vector, list) or not all(map(_is_number, vector)):
            raise ValueError(f"{name}.{entry!s:.40} is no vector of numbers")
        lengths.add(len(vector))
    if len(lengths) != 1 or not 1 <= max(lengths) <= MOST_DIMENSIONS:
        raise ValueError(f"the vectors of {name} have {sorted(lengths)} numbers, instead of one number of them")
    return lengths.pop()


def _is_number(value: Any) -> bool:
    try:
        return type(value) in (int, float) and math.isfinite(value)
    except OverflowError:
        return False
