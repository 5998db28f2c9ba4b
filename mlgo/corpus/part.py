"""A part of a corpus as a corpus of its own, which is not written: it reads the files of the whole."""

import collections
from collections.abc import Iterable

from mlgo.corpus.copying import by_digest, named_in
from mlgo.corpus.corpus import BITCODE_SUFFIX, THINLTO_INDEX_SUFFIX, Corpus, Module


def part_of_corpus(corpus: Corpus, names: Iterable[str]) -> Corpus:
    """The modules `names` of `corpus` with the carried files that their commands name.

    Its digest is that of the corpus that `copying.copy_modules` would write.

    Raises: CorpusError: a name is not in the corpus, or a command cannot be read.
    """
    part, carried = corpus.select(list(names)), by_digest(corpus.carried_files)
    named: set[str] = set()
    if carried:
        for module in part.modules:
            named.update(named_in(module.recorded_command, carried))
    return part.with_carried_files(named)


def equal_modules(modules: Iterable[Module]) -> dict[str, str]:
    """Names of modules that equal an earlier one of `modules` in bitcode, command and ThinLTO index -> its name.

    Bitcode of a size that no other module has is not read.

    Raises: CorpusError: a file is missing or empty.
    """
    of_size = collections.defaultdict(list)
    for module in modules:
        of_size[module.bitcode_size].append(module)
    found: dict[str, str] = {}
    for alike in of_size.values():
        first: dict[tuple[object, ...], str] = {}
        for module in alike if len(alike) > 1 else ():
            content = _content(module)
            if first.setdefault(content, module.name) != module.name:
                found[module.name] = first[content]
    return found


def _content(module: Module) -> tuple[object, ...]:
    return (
        module.sha256(BITCODE_SUFFIX),
        module.recorded_command,
        module.sha256(THINLTO_INDEX_SUFFIX) if module.has_thinlto_index else None,
    )
