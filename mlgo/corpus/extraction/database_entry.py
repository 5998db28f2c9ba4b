"""An entry of a compile_commands.json, for all readers (https://clang.llvm.org/docs/JSONCompilationDatabase.html)."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import Any

from mlgo.corpus.extraction import quoting
from mlgo.corpus.options.driver import output_of
from mlgo.run.exit_codes import RunError

#: Outputs that are no files to read.
_NO_FILES = frozenset({"-", os.devnull})


@dataclasses.dataclass(frozen=True)
class DatabaseEntry:
    """A command of a build.

    Attributes:
      directory: folder in which it runs, absolute.
      words: with the compiler, response files expanded.
      source: what it compiles, absolute; None: the entry does not say.
      output: the object, as the command or the entry names it; None: it writes none.
    """

    directory: str
    words: tuple[str, ...]
    source: str | None
    output: str | None


def read_entry(
    entry: Any, base: str, reader: Callable[[str], Callable] = quoting.response_file_reader
) -> DatabaseEntry | str:
    """The command of one entry of the JSON list; a text: why there is none.

    Args:
      base: folder that a relative `directory` is relative to.
      reader: gives access to response files, see `quoting.response_file_reader`.
    """
    reason = _unusable(entry)
    if reason is not None:
        return reason
    directory = _absolute(base, entry["directory"])
    words = entry.get("arguments")
    if words is None:
        words = quoting.split_shell(entry["command"])
    try:
        words = tuple(quoting.expand_response_files(words, reader(directory)))
    except RunError as error:
        return f"{error.subject} {error.wrong}"
    output = output_of(words, entry.get("file")) or entry.get("output")
    source = _absolute(directory, entry["file"]) if entry.get("file") else None
    return DatabaseEntry(directory, words, source, output if output and output not in _NO_FILES else None)


def _absolute(base: str, path: str) -> str:
    return os.path.normpath(os.path.join(base, path))


def _unusable(entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return "it is not an object"
    for key, kind in (("directory", str), ("file", str), ("output", str), ("command", str)):
        if entry.get(key) is not None and not isinstance(entry[key], kind):
            return f"its `{key}` is not text"
    if not entry.get("directory"):
        return "it has no `directory`"
    words = entry.get("arguments")
    if words is None and entry.get("command") is None:
        return "it has neither `command` nor `arguments`"
    if words is not None and not (isinstance(words, list) and all(isinstance(word, str) for word in words)):
        return "its `arguments` are not a list of texts"
    return None
