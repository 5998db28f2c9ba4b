"""Files of JSON objects, one a line, to which a process appends. A killed one leaves at most one unfinished line."""

import json
import os
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

from mlgo.run import files
from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import read_regular

Record = Mapping[str, Any]


def encode(record: Record) -> bytes:
    """One line: sorted keys, then a newline."""
    return (json.dumps(record, sort_keys=True) + "\n").encode("utf-8")


def append(path: pathlib.Path, record: Record, durable: bool = True) -> None:
    """Appends `record`, to the disk if `durable`. Raises: RunError: the file cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "ab") as file:
            file.write(encode(record))
            file.flush()
            if durable:
                os.fsync(file.fileno())
    except OSError as error:
        raise files.write_error(error, path) from error


def read(path: pathlib.Path, what: str, remedy: str) -> list[dict[str, Any]]:
    """The records in `path`, without an unfinished last line; none when the file is absent.

    Raises: RunError: the file (kind: `what`) cannot be read, or a line, which is named, is no JSON object.
    """
    try:
        content = read_regular(path, files.MAX_JSON_BYTES)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RunError(f"{what} ({path})", f"cannot be read: {error.strerror}", remedy) from error
    found = []
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        where = f"{what} ({path}, line {number})"
        record = files.parse_json(line, where, remedy)
        if not isinstance(record, dict):
            raise RunError(where, "is not a JSON object", remedy)
        found.append(record)
    return found


def keep(path: pathlib.Path, wanted: Callable[[Record], bool], what: str, remedy: str) -> list[dict[str, Any]]:
    """Removes records that are not `wanted`, and an unfinished last line; returns the rest. Raises: as `read`."""
    left = [record for record in read(path, what, remedy) if wanted(record)]
    content = b"".join(map(encode, left))
    if path.exists() and read_regular(path, files.MAX_JSON_BYTES) != content:
        files.write_atomically(path, content)
    return left
