"""Copies modules of one corpus into another that is being written, with what their commands refer to."""

import pathlib
import tempfile
from collections.abc import Callable, Iterable

from mlgo.corpus.corpus import Corpus, CorpusError, Module
from mlgo.corpus.description import FILES_FOLDER
from mlgo.corpus.writer import CorpusWriter

# files/<16 hex digits>-<name>: the writer puts the digits in front itself.
_DIGEST_PREFIX = len("0123456789abcdef-")


def copy_modules(
    corpus: Corpus, modules: Iterable[Module], writer: CorpusWriter, copied: Callable[[], None] = lambda: None
) -> None:
    """Adds `modules` of `corpus` to `writer`, which must have been opened with the same override and kind of ThinLTO.

    Args: copied: called after each module.
    Raises: RunError: a module cannot be read or written, or a file that a command names is not what its name says.
    """
    left = set(corpus.carried_files)
    with tempfile.TemporaryDirectory(prefix="mlgo-copy-") as scratch:
        for module in modules:
            # Not `module.command`: an override that is still to be filled in is copied as it is.
            override = corpus.command_override
            command = module.command if override is None else override
            for name in sorted(name for name in left if any(name in argument for argument in command)):
                copy_carried_file(corpus, name, writer, pathlib.Path(scratch))
                left.discard(name)
            writer.add(
                module.name,
                module.read_bitcode(),
                command if override is None else None,
                module.read_thinlto_index(),
                module.licence,
            )
            copied()


def copy_carried_file(corpus: Corpus, name: str, writer: CorpusWriter, scratch: pathlib.Path) -> None:
    """Copies the carried file `name` of `corpus`, which keeps its name. Args: scratch: a temporary folder.

    Raises: RunError: the file cannot be read or written, or is not what its name says.
    """
    link = scratch / name.removeprefix(f"{FILES_FOLDER}/")[_DIGEST_PREFIX:]
    link.unlink(missing_ok=True)
    link.symlink_to(corpus.file(name, scratch).absolute())
    written = writer.add_file(link)
    if written != name:
        raise CorpusError(f"corpus {corpus.path}: {name}", f"has other content than its name says: that of {written}")
