"""Files that are either whole or absent.

Every write goes to a temporary file in the same directory, is flushed to the disk and then renamed, so a process killed
at any moment leaves the old file, the new file, or an ignorable `.NAME.XXXXXXXX.partial` beside them.
"""

import contextlib
import errno
import json
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from mlgo.run.exit_codes import RunError

#: How the names of unfinished files and directories end; `remove_partial` looks for it.
PARTIAL_SUFFIX = ".partial"

#: JSON read by `read_json` is refused above this size. Our manifests are below 1 MB; corpora list a module in ~100 bytes.
MAX_JSON_BYTES = 256 * 1024 * 1024


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes `content` to `path` so that no reader ever sees a part of it.

    The parent directory is created when absent.

    Raises:
      RunError: the disk is full or the directory cannot be written; the message names the file and the remedy.
    """
    path = pathlib.Path(path)
    partial = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=PARTIAL_SUFFIX)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), 0o644)  # mkstemp makes 0600; outputs are for others to read.
            os.fsync(file.fileno())
        os.replace(partial, path)
        _sync_directory(path.parent)
    except OSError as error:
        if partial is not None:
            pathlib.Path(partial).unlink(missing_ok=True)
        raise _explain(error, path) from error
    except BaseException:
        if partial is not None:
            pathlib.Path(partial).unlink(missing_ok=True)
        raise


def write_all_atomically(folder: str | os.PathLike[str], contents: Mapping[str, bytes]) -> None:
    """Writes each of `contents`, by name below `folder`, as `write_atomically` does, in their order.

    The disk is waited for once for all of them: dozens of small files take no longer than a few.

    Raises: RunError: as `write_atomically`; files that were renamed before the error stay.
    """
    folder = pathlib.Path(folder)
    partial: dict[pathlib.Path, pathlib.Path] = {}
    path = folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            path = folder / name
            descriptor, unfinished = tempfile.mkstemp(dir=folder, prefix=f".{name}.", suffix=PARTIAL_SUFFIX)
            partial[path] = pathlib.Path(unfinished)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                os.fchmod(file.fileno(), 0o644)
        # Only now: the first of these writes the others' metadata too.
        for path, unfinished in partial.items():
            _sync_file(unfinished)
        for path, unfinished in partial.items():
            os.replace(unfinished, path)
        _sync_directory(folder)
    except OSError as error:
        raise _explain(error, path) from error
    finally:
        for unfinished in partial.values():
            unfinished.unlink(missing_ok=True)


def write_json_atomically(path: str | os.PathLike[str], value: Any) -> None:
    """Writes `value` as canonical JSON: sorted keys, two spaces, UTF-8, a final newline; NaN is refused."""
    write_atomically(path, encode_json(value))


def encode_json(value: Any) -> bytes:
    """Canonical JSON of `value`: equal values give equal bytes.

    Raises:
      ValueError: a number is NaN or infinite, which JSON cannot say.
    """
    text = json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8")


def read_json(path: str | os.PathLike[str], what: str, remedy: str) -> Any:
    """The JSON value in `path`.

    Args:
      path: the file.
      what: what the file is, for the message: "the trace manifest".
      remedy: what the reader of the message should do: "delete it; the trace is then made again".

    Raises:
      RunError: the file is absent, too large, not UTF-8 or not JSON.
    """
    path = pathlib.Path(path)
    read = f"{what} ({path})"
    try:
        if path.stat().st_size > MAX_JSON_BYTES:
            raise RunError(read, f"is larger than {MAX_JSON_BYTES} bytes", remedy)
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise RunError(read, "does not exist", remedy) from error
    except OSError as error:
        raise RunError(read, f"cannot be read: {error.strerror}", remedy) from error
    return parse_json(content, read, remedy)


def parse_json(content: bytes, read: str, remedy: str) -> Any:
    """The JSON value that `content` holds.

    Args:
      read: what was read, for the message: "the trace manifest (trace.json)".
      remedy: what the reader of the message should do.

    Raises:
      RunError: it is not UTF-8 or not JSON.
    """
    try:
        return json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise RunError(read, f"is not UTF-8 at byte {error.start}", remedy) from error
    except json.JSONDecodeError as error:
        raise RunError(read, f"is not JSON at line {error.lineno} column {error.colno}: {error.msg}", remedy) from error
    except RecursionError as error:
        raise RunError(read, "is nested too deeply to be ours", remedy) from error
    except ValueError as error:  # a number of more digits than Python converts
        raise RunError(read, f"is not JSON that can be read: {error}", remedy) from error


@contextlib.contextmanager
def directory_written_atomically(path: str | os.PathLike[str]) -> Iterator[pathlib.Path]:
    """A new directory to fill; it takes the place of `path` when the block ends without an exception.

    A directory cannot be exchanged for another in one step, so for an instant `path` may be absent; it is never partial.
    """
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = pathlib.Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.", suffix=PARTIAL_SUFFIX))
    try:
        yield partial
        os.chmod(partial, 0o755)
        for folder, _, names in os.walk(partial):
            for name in names:
                _sync_file(pathlib.Path(folder, name))
            _sync_directory(pathlib.Path(folder))
        if path.exists():
            retired = pathlib.Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.", suffix=PARTIAL_SUFFIX))
            os.rename(path, retired / "old")
            os.rename(partial, path)
            shutil.rmtree(retired)
        else:
            os.rename(partial, path)
        _sync_directory(path.parent)
    except OSError as error:
        raise _explain(error, path) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def remove_partial(folder: str | os.PathLike[str]) -> int:
    """Deletes what killed processes left unfinished anywhere below `folder`; returns how many entries went.

    Only for a folder that no other process is writing to.
    """
    removed = 0
    for directory, folders, names in os.walk(folder):
        for name in list(folders):
            if _is_partial(name):
                shutil.rmtree(os.path.join(directory, name))
                folders.remove(name)
                removed += 1
        for name in names:
            if _is_partial(name):
                os.unlink(os.path.join(directory, name))
                removed += 1
    return removed


def _is_partial(name: str) -> bool:
    return name.startswith(".") and name.endswith(PARTIAL_SUFFIX)


def _sync_directory(path: pathlib.Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_file(path: pathlib.Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _explain(error: OSError, path: pathlib.Path) -> RunError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = "Free space there or choose another --output_dir; the same command then goes on where it stopped"
        return RunError(f"writing {path}", "no space is left on its disk", remedy)
    remedy = "Choose an --output_dir that this user can write to"
    return RunError(f"writing {path}", f"failed: {error.strerror}", remedy)
