"""Objects of a compile_commands.json (https://clang.llvm.org/docs/JSONCompilationDatabase.html)."""

import os
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

from mlgo.corpus.extraction import quoting
from mlgo.corpus.extraction.database_entry import read_entry
from mlgo.corpus.extraction.listing import BuildObject, Listing, absolute, read_json
from mlgo.corpus.extraction.outcome import Kind, Omission
from mlgo.run.exit_codes import RunError

WHAT = "a compile_commands.json (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, ninja -t compdb, Bear)"


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
        found = read_entry(entry, base, reader)
        if isinstance(found, str):
            omissions.append(Omission(f"entry {index}", Kind.NO_OBJECT, found))
        elif found.output is None:
            omissions.append(Omission(f"entry {index}", Kind.NO_OBJECT, "its command writes no object file"))
        else:
            path = absolute(found.directory, found.output)
            objects.append(BuildObject(found.output, path, found.directory, found.source))
    return Listing(tuple(objects), tuple(omissions))
