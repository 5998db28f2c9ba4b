"""The objects of a build, the common form of all kinds of input."""

import dataclasses
import json
import os
import pathlib
from typing import Any

from mlgo.corpus.extraction.outcome import Omission
from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import read_regular

# compile_commands.json of LLVM and clang has 5 MB; aquery's answer about all of a large workspace is the largest input.
_MAX_INPUT_BYTES = 2 * 1024**3


@dataclasses.dataclass(frozen=True)
class BuildObject:
    """An object file, or one member of an archive.

    Attributes:
      stated: its name, or its archive's, in the input; the module's name is derived from it.
      path: its absolute path, or its archive's.
      directory: the compiler's working directory (absolute): relative paths in the recorded command are relative to it.
      source: the source it was compiled from (absolute), where the input names it.
      member: offset and size of the member's content; None: the file is the object.
      member_label: ending of the name of a member's module: "(dfa.o)".
    """

    stated: str
    path: str
    directory: str
    source: str | None = None
    member: tuple[int, int] | None = None
    member_label: str = ""


@dataclasses.dataclass(frozen=True)
class Listing:
    """The objects an input names, in its order, and its entries that give none."""

    objects: tuple[BuildObject, ...]
    omissions: tuple[Omission, ...] = ()


def read_text(path: pathlib.Path, what: str) -> str:
    """The input file; bytes that are not UTF-8 survive as `os.fsdecode` has them.

    Raises: RunError: it cannot be read.
    """
    try:
        return read_regular(path, _MAX_INPUT_BYTES).decode("utf-8", "surrogateescape")
    except OSError as error:
        raise RunError(f"--input={path}", f"cannot be read: {error.strerror}", f"give {what}") from error


def read_json(path: pathlib.Path, what: str) -> Any:
    """The input file as JSON. Raises: RunError: it is none."""
    text = read_text(path, what)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise RunError(
            f"--input={path}", f"is not JSON at line {error.lineno} column {error.colno}: {error.msg}", f"give {what}"
        ) from error
    except RecursionError as error:
        raise RunError(f"--input={path}", "is nested too deeply", f"give {what}") from error
    except ValueError as error:  # A number of more digits than Python converts.
        raise RunError(f"--input={path}", f"is not JSON: {error}", f"give {what}") from error


def absolute(directory: str, path: str) -> str:
    """`path`, relative to `directory`, without `.` and `..`, links not followed."""
    return os.path.normpath(os.path.join(directory, path))
