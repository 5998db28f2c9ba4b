"""Writes the parts of a corpus as corpora of their own."""

import contextlib
import pathlib
from collections.abc import Mapping

from mlgo.corpus import split
from mlgo.corpus.contained_files import ContainedFiles
from mlgo.corpus.copying import copy_modules
from mlgo.corpus.corpus import Corpus, Module
from mlgo.corpus.writer import CorpusWriter, WrittenCorpus
from mlgo.run import progress
from mlgo.run.exit_codes import ExitCode, RunError


def write_parts(corpus: Corpus, parts: Mapping[str, str], output: pathlib.Path) -> dict[str, WrittenCorpus]:
    """Writes a corpus of each part below `output`.

    Args: parts: the part of each module.
    Raises: RunError: a part would be empty (NOTHING_PRODUCED) or replace `corpus`, or reading or writing fails.
    """
    source = corpus.path.resolve()
    for target in ((output / part).resolve() for part in split.PARTS):
        if source.is_relative_to(target) or target.is_relative_to(source):
            wrong = f"would be written over the corpus {corpus.path}"
            raise RunError(f"--output_dir={output}", wrong, "give another directory")
    members: dict[str, list[Module]] = {part: [] for part in split.PARTS}
    for module in corpus.modules:
        members[parts[module.name]].append(module)
    for part, modules in members.items():
        if not modules:
            raise RunError(
                f"corpus {corpus.path}",
                f"none of its {len(corpus.modules)} modules would be in the part {part}",
                "split it another way: see //mlgo:split_corpus",
                ExitCode.NOTHING_PRODUCED,
            )
    written = {}
    bar = progress.start("split_corpus", len(corpus.modules), "modules")
    # One lock over both parts: they are of one corpus.
    with ContainedFiles(output), contextlib.closing(bar) as shown:
        for part, modules in members.items():
            with CorpusWriter(output / part, corpus.has_thinlto, corpus.command_override) as writer:
                copy_modules(corpus, modules, writer, shown.advance)
                written[part] = writer.finish()
    return written
