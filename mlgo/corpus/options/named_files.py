"""The files that the words of a command name, for what depends on their content."""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Iterable

#: What stands before a name in a word: -fplugin=NAME, -Wl,--version-script=NAME, @NAME.
_BEFORE = re.compile(r"[=,@]")
#: The file that clang reads where -fprofile-use= names a folder (clang/docs/UsersManual.rst).
_OF_FOLDER = "default.profdata"


def named_files(words: Iterable[str], folder: str | os.PathLike[str] | None = None) -> list[pathlib.Path]:
    """The existing regular files that `words` name, each once, in their order.
    Args: folder: what relative names are relative to; None: only absolute names count."""
    found: dict[pathlib.Path, None] = {}
    for word in words:
        if folder is None and "/" not in word:
            continue
        for name in dict.fromkeys([word, *_after(word)]):
            if not name or (folder is None and not name.startswith("/")):
                continue
            path = os.path.join(folder or "/", name)
            for candidate in (path, os.path.join(path, _OF_FOLDER)):
                if os.path.isfile(candidate):
                    found[pathlib.Path(candidate)] = None
    return list(found)


def _after(word: str) -> Iterable[str]:
    """The parts of `word` that may be a name of their own: up to its end, or to the next comma."""
    for match in _BEFORE.finditer(word):
        yield word[match.end() :]
        yield word[match.end() :].partition(",")[0]
    if word.startswith("-") and (begin := word.find("/")) > 0:
        yield word[begin:]
