"""The directory that a compiler is installed into: versions side by side, and links that name the current one.

    PREFIX/bin, lib           links to current/bin, current/lib: the paths for build systems, which never change
    PREFIX/current, previous  links to versions/NAME; `current` is replaced in one step
    PREFIX/versions/NAME      one compiler with files.json, the digest of each of its files
    PREFIX/mlgo-install.json  marks the directory as made by this command

All links are relative, so the directory can be moved and copied. A process killed at any moment leaves the compiler
that was current before or the new one, and perhaps `.NAME.XXXXXXXX.partial`, which the next use removes.
"""

import contextlib
import fcntl
import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable, Iterator

from mlgo.run.exit_codes import RunError
from mlgo.run.files import PARTIAL_SUFFIX, flush, is_partial, read_json, write_json_atomically
from release.installation import contents

MARKER = "mlgo-install.json"
VERSIONS = "versions"
CURRENT, PREVIOUS = "current", "previous"
#: Links beside `current` -> their targets, which never change.
FIXED_LINKS = {name: f"{CURRENT}/{name}" for name in ("bin", "lib")}
_FORMAT = 1
_OTHER = "Give another --prefix"
#: Names in a message about foreign files.
_NAMES_SHOWN = 5


class Prefix:
    """A directory of installed compilers, locked by this process; see `opened`.

    Attributes:
      path: the directory.
    """

    def __init__(self, path: pathlib.Path):
        self.path = path

    @property
    def versions(self) -> pathlib.Path:
        return self.path / VERSIONS

    def version(self, link: str = CURRENT) -> str | None:
        """Name of the version that a link names; None without the link."""
        path = self.path / link
        return os.path.basename(os.readlink(path)) if path.is_symlink() else None

    def add(self, name: str, unpack: Callable[[pathlib.Path], None], check: Callable[[pathlib.Path], None]) -> str:
        """Puts a version below versions/ and returns its name; `current` stays.

        A version of this name whose files are unchanged is used again. If they were changed, the new one is NAME-2.

        Args:
          unpack: writes the version's files into a directory and flushes them to disk.
          check: raises if the unpacked version is not usable; it is removed then.
        Raises: RunError: the disk is full or cannot be written; whatever `unpack` and `check` raise.
        """
        free = name
        for number in range(2, 1000):
            if not os.path.lexists(self.versions / free):
                break
            if not contents.differences(self.versions / free):
                check(self.versions / free)
                return free
            free = f"{name}-{number}"
        with _writing(self.path):
            partial = pathlib.Path(tempfile.mkdtemp(dir=self.versions, prefix=f".{free}.", suffix=PARTIAL_SUFFIX))
        try:
            with _writing(self.path):
                unpack(partial)
            check(partial)
            with _writing(self.path):
                os.chmod(partial, 0o755)
                os.rename(partial, self.versions / free)
                flush(self.versions)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        return free

    def switch(self, name: str) -> None:
        """Makes `name` the current version, in one step; `previous` then names the one that was current.

        Raises: RunError: the prefix cannot be written.
        """
        for link, target in FIXED_LINKS.items():
            self._link(link, target)
        current = self.version()
        if current not in (None, name):
            self._link(PREVIOUS, f"{VERSIONS}/{current}")
        self._link(CURRENT, f"{VERSIONS}/{name}")

    def remove_old(self) -> tuple[list[str], list[str]]:
        """Removes all versions but the current and the previous one.

        Returns: (names of removed versions, names of versions that stay because files in them are not this command's).
        Raises: RunError: the prefix cannot be written.
        """
        removed, kept = [], []
        for path in sorted(self.versions.iterdir()):
            if path.name in (self.version(), self.version(PREVIOUS)) or path.name.startswith("."):
                continue
            if contents.differences(path):
                kept.append(path.name)
                continue
            with _writing(self.path):
                retired = tempfile.mkdtemp(dir=self.versions, prefix=f".{path.name}.", suffix=PARTIAL_SUFFIX)
                os.rename(path, os.path.join(retired, path.name))
                shutil.rmtree(retired)
            removed.append(path.name)
        return removed, kept

    def _link(self, name: str, target: str) -> None:
        """Makes or replaces a link in one step."""
        path = self.path / name
        if path.is_symlink() and os.readlink(path) == target:
            return
        temporary = self.versions / f".{name}{PARTIAL_SUFFIX}"
        with _writing(self.path):
            temporary.unlink(missing_ok=True)
            os.symlink(target, temporary)
            os.replace(temporary, path)
            flush(self.path)


@contextlib.contextmanager
def opened(path: pathlib.Path) -> Iterator[Prefix]:
    """The prefix at `path`, created when absent, locked until the end of the block.

    Raises: RunError: it holds files of others, is locked, or cannot be written.
    """
    with contextlib.ExitStack() as stack:
        # Not around the caller's block, whose errors are others.
        with _writing(path):
            _make(path)
            _refuse_foreign(path)
            if not (path / MARKER).exists():
                write_json_atomically(path / MARKER, {"format": _FORMAT, "written_by": "mlgo, //release:install"})
            _make(path / VERSIONS)
            lock = os.open(path / VERSIONS, os.O_RDONLY | os.O_DIRECTORY)
            stack.callback(os.close, lock)
            _lock(lock, path)
            _remove_partial(path)
        yield Prefix(path)


def _make(folder: pathlib.Path) -> None:
    """Makes a folder that everyone may read, whatever the umask, unless it exists. Raises: RunError: a file does."""
    if not folder.is_dir():
        if os.path.lexists(folder):
            wrong = "is a link to what is not there" if not folder.exists() else "is no folder"
            raise RunError(f"--prefix={folder}", wrong, f"Remove it. Or: {_OTHER}")
        folder.mkdir(parents=True)
        folder.chmod(0o755)


@contextlib.contextmanager
def _writing(path: pathlib.Path) -> Iterator[None]:
    """Around changes of the prefix at `path`. Raises: RunError: in place of an OSError."""
    try:
        yield
    except OSError as error:
        raise RunError(
            f"--prefix={path}", f"cannot be written to: {error.strerror}", f"Free space or correct its mode. {_OTHER}"
        ) from error


def _refuse_foreign(path: pathlib.Path) -> None:
    """Raises: RunError: `path` is not this command's and not empty, or something stands where a link of it belongs."""
    names = sorted(entry.name for entry in path.iterdir() if not is_partial(entry.name))
    if MARKER not in names:
        if names:
            shown = ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")
            raise RunError(
                f"--prefix={path}",
                f"holds files that this command did not write: {shown}",
                "Give a directory that is empty, does not exist, or was made by this command",
            )
        return
    marker = read_json(path / MARKER, "the mark of an installation", _OTHER)
    if not isinstance(marker, dict) or marker.get("format") != _FORMAT:
        raise RunError(f"--prefix={path}", f"was made by another version of this command: {MARKER} differs", _OTHER)
    expected = {**FIXED_LINKS, CURRENT: f"{VERSIONS}/", PREVIOUS: f"{VERSIONS}/"}
    for name, target in expected.items():
        link = path / name
        if os.path.lexists(link) and not (link.is_symlink() and os.readlink(link).startswith(target)):
            raise RunError(
                f"--prefix={path}", f"{name} is not the link that this command makes", f"Move it away. Or: {_OTHER}"
            )
    if (path / VERSIONS).is_symlink():  # What lies there may be anything, and unfinished files are removed.
        raise RunError(f"--prefix={path}", f"{VERSIONS} is a link", f"Move it away. Or: {_OTHER}")


def _lock(descriptor: int, path: pathlib.Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise RunError(f"--prefix={path}", "is in use by another installation", f"Wait for it. Or: {_OTHER}") from error


def _remove_partial(path: pathlib.Path) -> None:
    """Deletes what killed installations left; nothing of theirs lies deeper."""
    for folder in (path, path / VERSIONS):
        for entry in folder.iterdir():
            if is_partial(entry.name):
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                else:
                    entry.unlink()
