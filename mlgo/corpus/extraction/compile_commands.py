"""Objects of a compile_commands.json (https://clang.llvm.org/docs/JSONCompilationDatabase.html)."""

import os
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

from mlgo.corpus.extraction import quoting
from mlgo.corpus.extraction.listing import BuildObject, Listing, absolute, read_json
from mlgo.corpus.extraction.outcome import Kind, Omission
from mlgo.corpus.options.driver import output_of
from mlgo.run.exit_codes import RunError

WHAT = "a compile_commands.json (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, ninja -t compdb, Bear)"

#: Outputs that are no files to read.
_NO_FILES = frozenset({"-", os.devnull})


def load(path: pathlib.Path) -> Listing:
    """The objects of the database at `path`. Raises: RunError: it is no list of entries."""
    entries = read_json(path, WHAT)
    if not isinstance(entries, list):
        raise RunError(f"--input={path}", "is not a list of compile commands", f"give {WHAT}, or another --input_type")
    return objects_of(entries, os.path.dirname(os.path.abspath(path)))


def objects_of(entries: Sequence[Any], base: str, reader: Callable = quoting.response_file_reader) -> Listing:
    """The objects that the commands make.

    Args:
      entries: of the database.
      base: folder that a relative `directory` is relative to.
      reader: gives access to response files, see `quoting.response_file_reader`.
    """
    objects, omissions = [], []
    for index, entry in enumerate(entries):
        reason = _unusable(entry)
        if reason is None:
            directory = absolute(base, entry["directory"])
            arguments = entry.get("arguments")
            if arguments is None:
                arguments = quoting.split_shell(entry["command"])
            try:
                arguments = list(quoting.expand_response_files(arguments, reader(directory)))
            except RunError as error:
                omissions.append(Omission(f"entry {index}", Kind.NO_OBJECT, f"{error.subject} {error.wrong}"))
                continue
            output = output_of(arguments, entry.get("file")) or entry.get("output")
            if output and output not in _NO_FILES:
                source = absolute(directory, entry["file"]) if entry.get("file") else None
                objects.append(BuildObject(output, absolute(directory, output), directory, source))
                continue
            reason = "its command writes no object file"
        omissions.append(Omission(f"entry {index}", Kind.NO_OBJECT, reason))
    return Listing(tuple(objects), tuple(omissions))


def _unusable(entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return "it is not an object"
    for key, kind in (("directory", str), ("file", str), ("output", str), ("command", str)):
        if entry.get(key) is not None and not isinstance(entry[key], kind):
            return f"its `{key}` is not text"
    if not entry.get("directory"):
        return "it has no `directory`"
    arguments = entry.get("arguments")
    if arguments is None and entry.get("command") is None:
        return "it has neither `command` nor `arguments`"
    if arguments is not None and not (isinstance(arguments, list) and all(isinstance(word, str) for word in arguments)):
        return "its `arguments` are not a list of texts"
    return None
