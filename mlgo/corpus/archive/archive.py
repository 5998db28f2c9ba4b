"""One file as the storage of a corpus."""

import functools
import hashlib
import os
import pathlib
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from mlgo.corpus.archive import members
from mlgo.corpus.archive.members import SharedFile
from mlgo.corpus.description import DESCRIPTION_NAME, CorpusError, is_safe_name
from mlgo.corpus.storage import MAX_FILE_BYTES

#: A corpus of 25,000 modules has 75,000 files.
MAX_MEMBERS = 4_000_000

_ZIP_MAGICS, _GZIP_MAGIC, _ZSTD_MAGIC = (b"PK\3\4", b"PK\5\6"), b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_TAR_MAGIC, _TAR_MAGIC_OFFSET = b"ustar", 257


class ArchiveStorage:
    """The files of a corpus in an archive, at its top or in the only folder there. See storage.Storage."""

    def __init__(
        self,
        path: pathlib.Path,
        identity: tuple[int, ...],
        found: dict[str, members.Member],
        read: Callable[[members.Member, str], bytes],
    ):
        """Args: found: members by name; read: returns the content of a member, given its name in messages."""
        self.path = path
        self._identity = identity
        self._members = found
        self._read = read
        self._top = _top_folder(found)

    def __reduce__(self):
        # For other processes, which open the file themselves, once.
        return _opened_elsewhere, (self.path, self._identity)

    def missing(self, names: Iterable[str]) -> Iterator[str]:
        return (name for name in names if self._top + name not in self._members)

    def names_in(self, folder: str) -> list[str]:
        start = f"{self._top}{folder}/"
        return sorted(
            name.removeprefix(start)
            for name in self._members
            if name.startswith(start) and "/" not in name[len(start) :]
        )

    def size(self, name: str) -> int:
        return self._member(name).file_size

    def read(self, name: str) -> bytes:
        member = self._member(name)
        if member.file_size > MAX_FILE_BYTES:
            wrong = f"has {member.file_size} bytes, more than the {MAX_FILE_BYTES} allowed"
            raise CorpusError(self.shown(name), wrong)
        return self._read(member, self.shown(name))

    def sha256(self, name: str) -> bytes:
        return hashlib.sha256(self.read(name)).digest()

    def file(self, name: str, folder: pathlib.Path) -> pathlib.Path:
        content = self.read(name)
        # A digest in the place of the name: it is a plain file in `folder`, whatever the archive calls it.
        digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()
        target = folder / f"{digest[:24]}{pathlib.PurePosixPath(name).suffix[:16]}"
        try:
            # Another thread may be putting the same file there.
            descriptor, partial = tempfile.mkstemp(dir=folder, prefix=".streamed.")
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            os.replace(partial, target)
        except OSError as error:
            wrong = f"cannot be written: {error.strerror}"
            raise CorpusError(f"{target}, from {self.shown(name)}", wrong, "free space") from error
        return target

    def shown(self, name: str) -> str:
        return f"{self.path}: {self._top}{name}"

    def _member(self, name: str) -> members.Member:
        try:
            return self._members[self._top + name]
        except KeyError:
            raise CorpusError(self.shown(name), "is not in the archive") from None


def open_archive(path: pathlib.Path) -> ArchiveStorage:
    """The corpus in the archive at `path`: .zip, .tar, .tar.gz or .tar.zst by its content, not by its name.

    Raises: CorpusError: it is none of these, is damaged or truncated, or has a member which a corpus has not.
    """
    try:
        return _opened(SharedFile(path), path)
    except OSError as error:
        raise CorpusError(str(path), f"cannot be read: {error.strerror}") from error


@functools.lru_cache(maxsize=4)
def _opened_elsewhere(path: pathlib.Path, identity: tuple[int, ...]) -> ArchiveStorage:
    storage = open_archive(path)
    if storage._identity != identity:  # pylint: disable=protected-access
        raise CorpusError(str(path), "was changed while it was being read", "leave it alone, and run the command again")
    return storage


def _opened(file: SharedFile, path: pathlib.Path) -> ArchiveStorage:
    start = file.read_at(0, _TAR_MAGIC_OFFSET + len(_TAR_MAGIC))
    found: Iterable[tuple[str, members.Member]]
    read: Callable[[Any, str], bytes]
    if start.startswith(_ZIP_MAGICS):
        archive, found = members.zip_members(file, path)
        read = functools.partial(members.read_zip_member, archive)
    else:
        if start.startswith(_GZIP_MAGIC):
            tar = members.gunzipped(file, path)
        elif start.startswith(_ZSTD_MAGIC):
            tar = members.unzstandarded(file, path)
        elif start[_TAR_MAGIC_OFFSET:] == _TAR_MAGIC:
            tar = file
        else:
            raise CorpusError(str(path), "is no corpus directory and no .zip, .tar, .tar.gz or .tar.zst archive")
        found = members.tar_members(tar, path)
        read = functools.partial(members.read_tar_member, tar)
    return ArchiveStorage(path, file.identity, _named(found, path), read)


def _named(found: Iterable[tuple[str, members.Member]], path: pathlib.Path) -> dict[str, members.Member]:
    """Members by name, as relative paths without "./"; hard links stand for the file they name.

    Raises: CorpusError: a name leads out of the archive or comes twice, or a link names nothing that came before it.
    """
    named: dict[str, members.Member] = {}
    for name, member in found:
        shown, name = f"{path}: member {name!r}", _plain(name)
        if not is_safe_name(name):
            raise CorpusError(shown, "has a name that leads out of the archive", "do not trust it")
        if name in named:
            raise CorpusError(shown, "comes twice", "pack the corpus anew")
        if target := getattr(member, "link", None):
            if _plain(target) not in named:
                raise CorpusError(shown, f"is a link to {target!r}, which is no file before it", "pack the corpus anew")
            member = named[_plain(target)]
        if len(named) >= MAX_MEMBERS:
            raise CorpusError(str(path), f"has more than {MAX_MEMBERS} members", "that is no corpus")
        named[name] = member
    return named


def _plain(name: str) -> str:
    while name.startswith("./"):
        name = name[2:].lstrip("/")
    return name


def _top_folder(names: Collection[str]) -> str:
    if DESCRIPTION_NAME in names:
        return ""
    found = [name for name in names if name.endswith(f"/{DESCRIPTION_NAME}") and name.count("/") == 1]
    return found[0].removesuffix(DESCRIPTION_NAME) if len(found) == 1 else ""
