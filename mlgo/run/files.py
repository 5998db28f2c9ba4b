"""Atomic writes of files and directories, and JSON files.

A write goes to a temporary file in the same directory, which is flushed to disk and renamed. A process killed at any
moment leaves the old file or the new file, and perhaps a `.XXXXXXXX.partial` that can be ignored.
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import errno
import json
import math
import os
import pathlib
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import read_file, size_of_regular

#: End of the names of unfinished files and directories, which `remove_partial` removes.
PARTIAL_SUFFIX = ".partial"
#: Larger JSON is refused. Our manifests are below 1 MB; corpora list a module in ~100 bytes.
MAX_JSON_BYTES = 256 * 1024 * 1024
#: Lists and objects inside each other; ours have ten. Python's encoder recurses deeper than its parser of JSON.
_DEEPEST = 64
#: Longer integers are refused: every integer below fits a float. Digests are texts; sizes have 20 digits at most.
_MAX_DIGITS = 40
#: AT_FDCWD and RENAME_EXCHANGE of renameat2(2).
_CURRENT_FOLDER, _RENAME_EXCHANGE = -100, 2
_HALVES = re.compile("[\ud800-\udfff]")


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes `content` to `path`, in one step for readers; creates its folder. Raises: RunError: see `write_error`."""
    path = pathlib.Path(path)
    write_all_atomically(path.parent, {path.name: content})


def write_all_atomically(folder: str | os.PathLike[str], contents: Mapping[str, bytes]) -> None:
    """As `write_atomically`, to names below `folder`, in order, in hardly more time than one file takes.

    Raises: RunError: files renamed before the error stay. Also where something else than a file has such a name.
    """
    path = folder = pathlib.Path(folder)
    partial: dict[pathlib.Path, pathlib.Path] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            path = folder / name
            with contextlib.suppress(FileNotFoundError):
                size_of_regular(path)  # A rename would take the place of a pipe or a device.
            descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".", suffix=PARTIAL_SUFFIX)
            partial[path] = pathlib.Path(temporary)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                os.fchmod(file.fileno(), 0o644)  # mkstemp gives 0600; other users may read outputs.
        # After all writes: the first flush writes the metadata of the others too.
        for path in partial:
            flush(partial[path])
        for path in partial:
            os.replace(partial[path], path)
        flush(folder)
    except OSError as error:
        raise write_error(error, path) from error
    finally:
        for unfinished in partial.values():
            unfinished.unlink(missing_ok=True)


def write_temporary(path: str | os.PathLike[str], content: bytes) -> None:
    """As `write_atomically`, but neither flushed nor in one step: a file that is of use to this process only."""
    path = pathlib.Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise write_error(error, path) from error


def write_json_atomically(path: str | os.PathLike[str], value: Any) -> None:
    """Writes `value` as canonical JSON: sorted keys, two spaces, UTF-8, a final newline; NaN is refused."""
    write_atomically(path, encode_json(value))


def encode_json(value: Any) -> bytes:
    """Canonical JSON of `value`: equal values give equal bytes. Raises: ValueError: a number is NaN or infinite."""
    text = json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
    # Bytes of a name that are not UTF-8 are halves of surrogate pairs here, and JSON has them only escaped.
    return (_HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", text) + "\n").encode("utf-8")


def read_json(path: str | os.PathLike[str], what: str, remedy: str) -> Any:
    """The JSON value in `path`. Args, Raises: as `read_file` and `parse_json`."""
    content = read_file(path, MAX_JSON_BYTES, what, remedy)
    return parse_json(content, f"{what} ({pathlib.Path(path)})", remedy)


def parse_json(content: bytes | str, subject: str, remedy: str) -> Any:
    """The JSON value that `content` holds.

    Args: subject: what was read, for the message: "the trace manifest (trace.json)"; remedy: what to do.
    Raises: RunError: `content` is not UTF-8, not JSON, or has what readers understand in different ways: NaN and
      infinite numbers, integers of hundreds of digits, or two fields of one name in an object; or is nested too deeply.
    """
    try:
        value = json.loads(
            content if isinstance(content, str) else content.decode("utf-8"),
            object_pairs_hook=_object_of,
            parse_constant=_finite,
            parse_float=_finite,
            parse_int=_integer,
        )
    except UnicodeDecodeError as error:
        raise RunError(subject, f"is not UTF-8 at byte {error.start}", remedy) from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise RunError(subject, f"is not JSON at {where}: {error.msg}", remedy) from error
    except RecursionError as error:
        raise RunError(subject, "is nested too deeply", remedy) from error
    except ValueError as error:  # Of a hook above.
        raise RunError(subject, f"is not JSON: {error}", remedy) from error
    if _is_deep(value):
        raise RunError(subject, "is nested too deeply", remedy)
    return value


def _is_deep(value: Any) -> bool:
    """Whether more than `_DEEPEST` lists and objects of a JSON value are inside each other."""
    level = [value]
    for _ in range(_DEEPEST):
        inner = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, (dict, list)))
        level = [each for values in inner for each in values if isinstance(each, (dict, list))]
        if not level:
            return False
    return True


def _object_of(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(fields)
    if len(found) != len(fields):
        [(name, count)] = collections.Counter(name for name, _ in fields).most_common(1)
        raise ValueError(f"an object has {count} fields {name!r}")
    return found


def _integer(text: str) -> int:
    """The number `text`. Raises: ValueError: it is so long that the program's numbers could not hold it."""
    if len(text) > _MAX_DIGITS:
        raise ValueError(f"the number {text[:_MAX_DIGITS]}... has {len(text)} digits")
    return int(text)


def _finite(text: str) -> float:
    """The number `text`. Raises: ValueError: NaN, Infinity, or a number too large for a float."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:_MAX_DIGITS]} is not finite")
    return value


@contextlib.contextmanager
def directory_written_atomically(path: str | os.PathLike[str]) -> Iterator[pathlib.Path]:
    """A new directory that replaces `path` when the block ends without exception, in one step where the file system can
    exchange two directories; else `path` is absent for an instant."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = pathlib.Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.", suffix=PARTIAL_SUFFIX))
    try:
        yield partial
        os.chmod(partial, 0o755)
        for folder, _, names in os.walk(partial):
            for name in names:
                flush(pathlib.Path(folder, name))
            flush(pathlib.Path(folder))
        if _exchanged(partial, path):
            pass  # What was there is removed as unfinished.
        elif path.exists():
            retired = pathlib.Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.", suffix=PARTIAL_SUFFIX))
            os.rename(path, retired / "old")
            os.rename(partial, path)
            shutil.rmtree(retired)
        else:
            os.rename(partial, path)
        flush(path.parent)
    except OSError as error:
        raise write_error(error, path) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _exchanged(first: pathlib.Path, second: pathlib.Path) -> bool:
    """Gives each of two directories the other's name; False: one is absent, or the file system cannot."""
    names = (_CURRENT_FOLDER, os.fsencode(first), _CURRENT_FOLDER, os.fsencode(second))
    return ctypes.CDLL(None).renameat2(*names, _RENAME_EXCHANGE) == 0


def remove_partial(folder: str | os.PathLike[str]) -> int:
    """Deletes what killed processes left unfinished below `folder`, which no other writes to; returns their number."""
    removed = 0
    for directory, folders, names in os.walk(folder):
        for name in filter(is_partial, [*folders, *names]):
            path = os.path.join(directory, name)
            if name in names or os.path.islink(path):
                os.unlink(path)
            else:
                shutil.rmtree(path)
            removed += 1
        folders[:] = [name for name in folders if not is_partial(name)]
    return removed


def is_partial(name: str) -> bool:
    """Whether an unfinished file or directory has this name."""
    return name.startswith(".") and name.endswith(PARTIAL_SUFFIX)


def flush(path: pathlib.Path) -> None:
    """Writes a file's content, or the names in a directory, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_error(error: OSError, path: pathlib.Path) -> RunError:
    """What to raise when writing `path` has failed with `error`: it names the file and the remedy."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = "Free space there or choose another output directory; the same command then resumes where it stopped"
        return RunError(f"writing {path}", "no space is left on its disk", remedy)
    remedy = "Choose an output directory that this user can write to"
    return RunError(f"writing {path}", f"failed: {error.strerror}", remedy)
