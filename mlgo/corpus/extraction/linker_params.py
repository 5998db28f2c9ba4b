"""Objects of a linker parameter file (what `ld.lld @file` reads), and of a linker's arguments."""

import os
import pathlib
import re
from collections.abc import Callable, Iterator, Sequence

from mlgo.corpus.extraction import quoting
from mlgo.corpus.extraction.listing import BuildObject, Listing, absolute, read_text

WHAT = "a linker parameter file: the words of a link command, or one object per line"

_QUOTING = re.compile(r"[\s\"'\\]")
_OBJECT_SUFFIXES = (".o", ".obj")
_ARCHIVE_SUFFIXES = (".a", ".lib", ".lo")
# As lld and clang's driver have it (lld/ELF/Options.td). Of lld's other options, none that begins so names a file.
_OUTPUTS = frozenset(("-o", "-output", "--output"))
_JOINED_OUTPUT = re.compile(r"--?output=|-o(?!mtargetos|bject|pt-remarks|format|utput)")


def load(path: pathlib.Path, base: str) -> Listing:
    """The objects and archives in the file at `path`, relative to `base`. Raises: RunError: it cannot be read."""
    words = words_of(read_text(path, WHAT), lambda word: os.path.exists(absolute(base, word)))
    return objects_of(quoting.expand_response_files(words, quoting.response_file_reader(base)), base)


def words_of(text: str, exists: Callable[[str], bool]) -> list[str]:
    """The words of a parameter file.

    Linkers split at blanks and handle quotes; for mlgo-utils every line is one word. Therefore a line that is the name
    of an existing file with blanks or quotes is one word.
    """
    words: list[str] = []
    pending: list[str] = []
    quote = ""
    for line in text.split("\n"):
        whole = line.strip()
        if not pending and _QUOTING.search(whole) and not whole.startswith(("-", '"')) and exists(whole):
            words.append(whole)
            continue
        pending.append(line)
        quote, escaped = _state_after(line, quote)
        if not quote and not escaped:
            words += quoting.split_response("\n".join(pending))
            pending.clear()
    return words + quoting.split_response("\n".join(pending))


def objects_of(words: Sequence[str] | Iterator[str], base: str) -> Listing:
    """The objects that `words` link, as mlgo-utils has it: with `-o`, what ends like an object; without, everything.

    Archives are added, their members are objects too. Flags and what follows `-o` are left out.
    """
    words = list(words)
    files = [
        word
        for index, word in enumerate(words)
        if not word.startswith(("-", "@")) and (index == 0 or words[index - 1] not in _OUTPUTS)
    ]
    if any(word in _OUTPUTS or _JOINED_OUTPUT.match(word) for word in words):
        files = [word for word in files if word.endswith(_OBJECT_SUFFIXES + _ARCHIVE_SUFFIXES)]
    return Listing(tuple(BuildObject(word, absolute(base, word), base) for word in files if word))


def is_archive_name(word: str) -> bool:
    return word.endswith(_ARCHIVE_SUFFIXES)


def _state_after(line: str, quote: str) -> tuple[str, bool]:
    """The open quote after `line`, which began inside `quote` ("": none), and whether the line ends with an escape."""
    escaped = False
    if not quote and not _QUOTING.search(line):
        return "", False
    for character in line:
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
    return quote, escaped
