"""For tests: a corpus of a few modules."""

import pathlib
from collections.abc import Mapping, Sequence

from mlgo.corpus.corpus import Corpus
from mlgo.corpus.writer import CorpusWriter


def made_up_corpus(
    folder: pathlib.Path, modules: Mapping[str, tuple[bytes, Sequence[str] | None]], **settings
) -> Corpus:
    """A corpus in `folder` of modules by their names, with bitcode and command. `settings`: of CorpusWriter."""
    with CorpusWriter(folder, **settings) as writer:
        for name, (bitcode, command) in modules.items():
            writer.add(name, bitcode, command, b"BC\xc0\xde." if settings.get("has_thinlto") else None)
        writer.finish()
    return Corpus.load(folder)
