"""Files inside one directory that nothing can lead out of: no absolute name, no `..`, no symbolic link on the way.

Names of modules are untrusted. Every step of a name is opened relative to the directory above it and
without following links, so what lies in the directory already cannot redirect a write either. Files appear whole: they
are written under a temporary name beside their own and renamed.
"""

import contextlib
import ctypes
import errno
import fcntl
import hashlib
import os
import pathlib
import re
import secrets
import stat
from collections.abc import Iterator
from typing import BinaryIO

from mlgo.run.exit_codes import RunError
from mlgo.run.files import write_error

#: Names of unfinished files. Short, because the name of the file itself may be as long as the file system allows.
_PARTIAL_NAME = re.compile(r"\.[0-9a-f]{16}\.partial")

_CHUNK_BYTES = 1 << 20


class NameRefused(RunError):
    """A name would lead out of the directory, cannot be a file's name, or belongs to another file."""


def refusal(name: str) -> str | None:
    """Why `name`, a path with `/` between its parts, cannot name a file below a directory; None: it can."""
    if not name:
        return "is empty"
    if "\0" in name:
        return "holds a NUL"
    if name.startswith("/"):
        return "is absolute"
    if any(part in ("", ".", "..") for part in name.split("/")):
        return "has an empty part, `.` or `..`"
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return "holds a character that no file name can have"
    return None


class ContainedFiles:
    """The files below `directory`, which is made when absent. Close it, or use it in a `with` block."""

    def __init__(self, directory: str | os.PathLike[str]):
        """Raises: RunError: the directory cannot be made or opened, or another process is writing to it."""
        self.directory = pathlib.Path(directory)
        with self._explained(""):
            # The directory itself is the user's choice and may be a link; what lies in it may not.
            self.directory.mkdir(parents=True, exist_ok=True)
            self._root = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self._root, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._root)
            wrong = "is being written by another process"
            raise RunError(f"{self.directory}", wrong, "wait for it, or choose another directory") from error
        except OSError:
            pass  # A file system without locks (some network ones): two writers at a time are then not noticed.

    def __enter__(self) -> "ContainedFiles":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        if self._root >= 0:
            os.close(self._root)  # This releases the lock too.
            self._root = -1

    def is_empty(self) -> bool:
        return not os.listdir(self._root)

    def has(self, name: str) -> bool:
        """Whether a regular file lies at `name`, no link followed."""
        with self._explained(name), self._parent(name) as (folder, base):
            try:
                return stat.S_ISREG(os.stat(base, dir_fd=folder, follow_symlinks=False).st_mode)
            except FileNotFoundError:
                return False

    def write(self, name: str, content: bytes) -> bool:
        """Puts `content` at `name`; False: it was there already and stays untouched."""
        with self._explained(name), self._parent(name) as (folder, base):
            if _holds(folder, base, content):
                return False
            with _partial(folder) as (partial, file):
                file.write(content)
                file.close()
                os.replace(partial, base, src_dir_fd=folder, dst_dir_fd=folder)
            return True

    def copy(self, source: int, size: int, folder: str, base: str) -> str:
        """Copies the open file `source` into `folder`, under the name DIGEST-`base` with 16 hex digits of its sha256.

        It is read in chunks, so it may be larger than memory, and no further than the `size` bytes that it has.
        Returns the name, `folder` included.
        """
        with self._explained(folder), self._folder(folder) as descriptor, _partial(descriptor) as (partial, file):
            digest = hashlib.sha256()
            while size > 0 and (chunk := os.read(source, min(size, _CHUNK_BYTES))):
                digest.update(chunk)
                file.write(chunk)
                size -= len(chunk)
            file.close()
            name = f"{digest.hexdigest()[:16]}-{base}"
            if reason := refusal(name):
                raise NameRefused(f"name {name!r}", reason, "rename it")
            os.replace(partial, name, src_dir_fd=descriptor, dst_dir_fd=descriptor)
        return f"{folder}/{name}"

    def link(self, existing: str, name: str) -> bool:
        """Makes `name` the same file as `existing`; False: the file system cannot, nothing was done."""
        with self._explained(name), self._parent(existing) as (from_folder, from_base):
            with self._parent(name) as (folder, base):
                partial = _partial_name()
                try:
                    os.link(from_base, partial, src_dir_fd=from_folder, dst_dir_fd=folder, follow_symlinks=False)
                except OSError as error:
                    if error.errno in (errno.EMLINK, errno.EPERM, errno.ENOTSUP, errno.EXDEV, errno.ENOENT):
                        return False
                    raise
                try:
                    os.replace(partial, base, src_dir_fd=folder, dst_dir_fd=folder)
                finally:
                    _unlink(partial, folder)  # rename() does nothing when both names are one file already.
                return True

    def remove(self, name: str) -> None:
        """Deletes the file or link at `name` if there is one, then its folders as far as they are empty."""
        with self._explained(name), contextlib.suppress(FileNotFoundError):
            with self._parent(name, create=False) as (folder, base):
                _unlink(base, folder)
            parents = name.split("/")[:-1]
            while parents:
                try:
                    with self._parent("/".join(parents), create=False) as (folder, base):
                        os.rmdir(base, dir_fd=folder)
                except OSError:  # Not empty, as a rule.
                    return
                parents.pop()

    def names(self, but_not_below: str) -> list[str]:
        """Every file and link below the directory, sorted; folders that hold a file `but_not_below` are left out."""
        found = []
        for folder, folders, names, _ in os.fwalk(".", dir_fd=self._root, follow_symlinks=False):
            if folder != "." and but_not_below in names:
                folders.clear()
                continue
            found += [os.path.normpath(os.path.join(folder, name)) for name in names]
        return sorted(found)

    def sync(self) -> None:
        """Returns when everything on the directory's file system is on the disk: one call instead of one per file."""
        if ctypes.CDLL(None, use_errno=True).syncfs(self._root) != 0:
            os.sync()

    @contextlib.contextmanager
    def _explained(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            where = self.directory / name if name else self.directory
            if error.errno == errno.ENAMETOOLONG:
                wrong = "the name is too long for its file system"
                raise NameRefused(f"writing {where}", wrong, "shorten it") from error
            raise write_error(error, where) from error

    @contextlib.contextmanager
    def _parent(self, name: str, create: bool = True) -> Iterator[tuple[int, str]]:
        """The opened folder of `name` and its last part. Raises: NameRefused."""
        if reason := refusal(name):
            raise NameRefused(f"name {name!r}", f"{reason}, so it could lead out of {self.directory}", "rename it")
        folder_name, _, base = name.rpartition("/")
        with self._folder(folder_name, create) as folder:
            yield folder, base

    @contextlib.contextmanager
    def _folder(self, name: str, create: bool = True) -> Iterator[int]:
        descriptor = os.dup(self._root)
        try:
            for part in name.split("/") if name else ():
                below = self._step(descriptor, part, name, create)
                os.close(descriptor)
                descriptor = below
            yield descriptor
        finally:
            os.close(descriptor)

    def _step(self, above: int, part: str, name: str, create: bool) -> int:
        try:
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=above)
            return os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                wrong = f"{part!r} in it is a file or a symbolic link, not a folder"
                remedy = "remove it, or choose another directory"
                raise NameRefused(f"{self.directory / name}", wrong, remedy) from error
            raise


def is_partial(name: str) -> bool:
    """Whether the file at `name` was left unfinished by a killed process."""
    return _PARTIAL_NAME.fullmatch(os.path.basename(name)) is not None


def _partial_name() -> str:
    return f".{secrets.token_hex(8)}.partial"


@contextlib.contextmanager
def _partial(folder: int) -> Iterator[tuple[str, BinaryIO]]:
    """A new file, which is deleted unless the block gives it another name."""
    name = _partial_name()
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield name, file
    finally:
        _unlink(name, folder)


def _unlink(base: str, folder: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(base, dir_fd=folder)


def _holds(folder: int, base: str, content: bytes) -> bool:
    """Whether a regular file `base` has exactly this content."""
    try:
        found = os.stat(base, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode) or found.st_size != len(content):
            return False
        with os.fdopen(os.open(base, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder), "rb") as file:
            return file.read(len(content) + 1) == content
    except (FileNotFoundError, PermissionError):
        return False
