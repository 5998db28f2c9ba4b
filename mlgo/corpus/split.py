"""Which modules a policy is trained on and which are held out to evaluate it. The only place that defines this.

`write_parts` writes the two as corpora of their own.
"""

import contextlib
import hashlib
import pathlib
from collections.abc import Iterable, Mapping

from mlgo.corpus.contained_files import ContainedFiles
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.selection import copy_modules
from mlgo.corpus.writer import CorpusWriter, WrittenCorpus
from mlgo.run import progress
from mlgo.run.exit_codes import ExitCode, RunError

TRAIN = "train"
HELD_OUT = "held_out"
PARTS = (TRAIN, HELD_OUT)

#: Separates source and target in the name of a module whose source several targets compile.
OWNER_MARK = "@@"

# Of the built-in corpus's 122 modules this holds out 36, with 620 functions that have eviction decisions; one in five
# would leave 22 modules and 330 functions.
HELD_OUT_ONE_IN = 4


def part_of(module_name: str, held_out_one_in: int = HELD_OUT_ONE_IN) -> str:
    """The part of a module: a fixed function of its source's name, independent of the other modules."""
    return HELD_OUT if _hash(_source(module_name)) % held_out_one_in == 0 else TRAIN


def by_hash(names: Iterable[str], held_out_one_in: int = HELD_OUT_ONE_IN) -> dict[str, str]:
    """Part of each module, by its name alone: see `part_of`."""
    return {name: part_of(name, held_out_one_in) for name in names}


def with_both_parts(parts: Mapping[str, str], held_out_one_in: int = HELD_OUT_ONE_IN) -> dict[str, str]:
    """`parts`, with sources moved so that few modules, too, make two parts.

    Between half and twice of one in `held_out_one_in` sources are held out, at least one and never all. The hash of a
    source's name selects those that move. The built-in corpora are far from these bounds, so none of theirs moves.
    """
    part_of_source = {_source(name): part for name, part in parts.items()}
    sources = sorted(part_of_source, key=lambda source: (_hash(source), source))
    fewest = max(1, len(sources) // (2 * held_out_one_in))
    most = max(1, min(len(sources) - 1, 2 * len(sources) // held_out_one_in))
    held_out = [source for source in sources if part_of_source[source] == HELD_OUT][:most]
    others = [source for source in sources if source not in held_out]
    chosen = frozenset([*held_out, *others[: max(0, fewest - len(held_out))]])
    return {name: HELD_OUT if _source(name) in chosen else TRAIN for name in parts}


def _source(module_name: str) -> str:
    return module_name.partition(OWNER_MARK)[0]


def _hash(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()[:8], "big")


def write_parts(corpus: Corpus, parts: Mapping[str, str], output: pathlib.Path) -> dict[str, WrittenCorpus]:
    """Writes a corpus of each part below `output`. Args: parts: the part of each module.
    Raises: RunError: a part would be empty (NOTHING_PRODUCED) or replace `corpus`, or reading or writing fails."""
    source = corpus.path.resolve()
    for target in ((output / part).resolve() for part in PARTS):
        if source.is_relative_to(target) or target.is_relative_to(source):
            wrong = f"would be written over the corpus {corpus.path}"
            raise RunError(f"--output_dir={output}", wrong, "give another directory")
    members = {part: [module for module in corpus.modules if parts[module.name] == part] for part in PARTS}
    for part, modules in members.items():
        if not modules:
            wrong = f"none of its {len(corpus.modules)} modules would be in the part {part}"
            remedy = "give another --held_out_one_in, or a larger corpus"
            raise RunError(f"corpus {corpus.path}", wrong, remedy, ExitCode.NOTHING_PRODUCED)
    written = {}
    bar = progress.start("split_corpus", len(corpus.modules), "modules")
    # One lock over both parts: they are of one corpus.
    with ContainedFiles(output), contextlib.closing(bar) as shown:
        for part, modules in members.items():
            with CorpusWriter(output / part, corpus.has_thinlto, corpus.command_override) as writer:
                copy_modules(corpus, modules, writer, shown.advance)
                written[part] = writer.finish()
    return written
