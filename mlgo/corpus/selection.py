"""Some modules of a corpus: as a corpus that is only read, or copied with what their commands refer to."""

import collections
import pathlib
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping

from mlgo.corpus.bitcode import is_bitcode
from mlgo.corpus.corpus import BITCODE_SUFFIX, THINLTO_INDEX_SUFFIX, Corpus, CorpusError, Module
from mlgo.corpus.description import FILES_FOLDER
from mlgo.corpus.writer import CorpusWriter
from mlgo.run.manifest import digest_of_file

# files/<16 hex digits>-<name>: the writer puts the digits in front itself.
_DIGEST_PREFIX = len("0123456789abcdef-")
_DIGEST_END = len(FILES_FOLDER) + 1 + _DIGEST_PREFIX
# A lookahead, so that beginnings that overlap are all found.
_BEGINNING = re.compile(rf"(?=({FILES_FOLDER}/[0-9a-f]{{16}}-))")


def part_of_corpus(corpus: Corpus, names: Iterable[str]) -> Corpus:
    """The modules `names` of `corpus` with the carried files that their commands name. Its digest is that of the corpus
    that `copy_modules` would write. Raises: CorpusError: a name is not in the corpus, or a command cannot be read."""
    part, carried = corpus.select(list(names)), by_digest(corpus.carried_files)
    named: set[str] = set()
    if carried:
        for module in part.modules:
            named.update(named_in(module.recorded_command, carried))
    return part.with_carried_files(named)


def equal_modules(modules: Iterable[Module]) -> dict[str, str]:
    """Names of modules that equal an earlier one of `modules` in bitcode, command and ThinLTO index -> its name.

    Bitcode of a size that no other module has is not read. Raises: CorpusError: a file is missing or empty."""
    of_size = collections.defaultdict(list)
    for module in modules:
        of_size[module.bitcode_size].append(module)
    found: dict[str, str] = {}
    for alike in of_size.values():
        first: dict[tuple[object, ...], str] = {}
        for module in alike if len(alike) > 1 else ():
            index = module.sha256(THINLTO_INDEX_SUFFIX) if module.has_thinlto_index else None
            content = (module.sha256(BITCODE_SUFFIX), module.recorded_command, index)
            if first.setdefault(content, module.name) != module.name:
                found[module.name] = first[content]
    return found


def copy_modules(
    corpus: Corpus, modules: Iterable[Module], writer: CorpusWriter, copied: Callable[[], None] = lambda: None
) -> None:
    """Adds `modules` of `corpus` to `writer`, which must have been opened with the same override and kind of ThinLTO.
    `copied` is called after each.

    Raises: RunError: a module cannot be read or written, or a file that a command names is not what its name says.
    """
    left = by_digest(corpus.carried_files)
    with tempfile.TemporaryDirectory(prefix="mlgo-copy-") as scratch:
        for module in modules:
            # Not `module.command`: an override that is still to be filled in is copied as it is.
            command = module.recorded_command
            for name in named_in(command, left):
                copy_carried_file(corpus, name, writer, pathlib.Path(scratch))
                left[name[:_DIGEST_END]].discard(name)
            own = command if corpus.command_override is None else None
            content, index = module.read_bitcode(), module.read_thinlto_index()
            for suffix, read in ((BITCODE_SUFFIX, content), (THINLTO_INDEX_SUFFIX, index)):
                if read and not is_bitcode(read):  # It may be a link to a secret of this machine.
                    raise CorpusError(str(module.file(suffix)), "does not start as bitcode does")
            writer.add(module.name, content, own, index, module.licence)
            copied()


def by_digest(names: Iterable[str]) -> dict[str, set[str]]:
    """Names of carried files by their beginning, `files/<16 hex digits>-`."""
    found: dict[str, set[str]] = {}
    for name in names:
        found.setdefault(name[:_DIGEST_END], set()).add(name)
    return found


def named_in(command: Iterable[str], carried: Mapping[str, set[str]]) -> list[str]:
    """The carried files that `command` names, sorted. Not every file is looked for: a corpus may have one a module."""
    found: set[str] = set()
    for argument in command:
        for beginning in set(_BEGINNING.findall(argument)):
            found.update(name for name in carried.get(beginning, ()) if name in argument)
    return sorted(found)


def copy_carried_file(corpus: Corpus, name: str, writer: CorpusWriter, scratch: pathlib.Path) -> None:
    """Copies the carried file `name` of `corpus`, which keeps its name. Args: scratch: a temporary folder.
    Raises: RunError: the file cannot be read or written, or is not what its name says."""
    check_carried_file(corpus.file(name))
    link = scratch / name.removeprefix(f"{FILES_FOLDER}/")[_DIGEST_PREFIX:]
    link.unlink(missing_ok=True)
    link.symlink_to(corpus.file(name).absolute())
    writer.add_file(link)


def check_carried_file(path: pathlib.Path) -> None:
    """Raises: CorpusError: a carried file is not what its name says; so nothing else of this machine can be."""
    if not (digest := digest_of_file(path)).startswith(path.name[: _DIGEST_PREFIX - 1]):
        raise CorpusError(str(path), f"has other content than its name says: its sha256 is {digest}")
