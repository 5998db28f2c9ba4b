"""One file as the storage of a corpus."""

import functools
import hashlib
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mlgo.corpus.archive import source as sources
from mlgo.corpus.archive.tar_members import TarMember, tar_members
from mlgo.corpus.archive.zip_members import read_zip_member, zip_members
from mlgo.corpus.description import DESCRIPTION_NAME, is_safe_name
from mlgo.corpus.error import CorpusError

#: A corpus of 25,000 modules has 75,000 files.
MAX_MEMBERS = 4_000_000

_TAR_MAGIC_OFFSET = 257


class ArchiveStorage:
    """The files of a corpus in an archive; the corpus is at its top or in its only folder there. See storage.Storage."""

    def __init__(self, plain: sources.PlainSource, members: dict[str, Any], read: Callable[[Any, str], bytes]):
        """Args: members: by name; read: content of a member, given how messages call it."""
        self.path = plain.path
        self._identity = plain.identity
        self._members = members
        self._read = read
        self._top = _top_folder(members)

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
        return self._member(name).size

    def read(self, name: str) -> bytes:
        return self._read(self._member(name), self.shown(name))

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
            raise CorpusError(
                f"{target}, from {self.shown(name)}", f"cannot be written: {error.strerror}", "free space"
            ) from error
        return target

    def shown(self, name: str) -> str:
        return f"{self.path}: {self._top}{name}"

    def _member(self, name: str) -> Any:
        try:
            return self._members[self._top + name]
        except KeyError:
            raise CorpusError(self.shown(name), "is not in the archive") from None


def open_archive(path: pathlib.Path) -> ArchiveStorage:
    """The corpus in the archive at `path`: .zip, .tar, .tar.gz or .tar.zst by its content, not by its name.

    Raises: CorpusError: it is none of these, is damaged or truncated, or has a member which a corpus has not.
    """
    try:
        plain = sources.PlainSource(path)
        return _open(plain)
    except OSError as error:
        raise CorpusError(str(path), f"cannot be read: {error.strerror}") from error


@functools.lru_cache(maxsize=4)
def _opened_elsewhere(path: pathlib.Path, identity: tuple[int, ...]) -> ArchiveStorage:
    storage = open_archive(path)
    if storage._identity != identity:  # pylint: disable=protected-access
        raise CorpusError(str(path), "was changed while it was being read", "leave it alone, and run the command again")
    return storage


def _open(plain: sources.PlainSource) -> ArchiveStorage:
    start = plain.read_at(0, _TAR_MAGIC_OFFSET + 5)
    if start[:4] in (b"PK\3\4", b"PK\5\6"):
        members = _named(zip_members(plain), plain.path)
        return ArchiveStorage(plain, members, lambda member, shown: read_zip_member(plain, member, shown))
    if start[:2] == b"\x1f\x8b":
        source = sources.gzip_source(plain)
    elif start[:4] == b"\x28\xb5\x2f\xfd":
        source = sources.zstd_source(plain)
    elif start[_TAR_MAGIC_OFFSET:] == b"ustar":
        source = plain
    else:
        raise CorpusError(str(plain.path), "is no corpus directory and no .zip, .tar, .tar.gz or .tar.zst archive")
    members = _named(tar_members(source, str(plain.path)), plain.path)

    def read(member: TarMember, shown: str) -> bytes:
        content = source.read_at(member.offset, member.size)
        if len(content) != member.size:
            raise CorpusError(shown, "is cut off", sources.COPY_IT_AGAIN)
        return content

    return ArchiveStorage(plain, members, read)


def _named(found: Iterator[tuple[str, Any]], path: pathlib.Path) -> dict[str, Any]:
    """Members by name, as relative paths without "./"; hard links stand for the file they name.

    Raises: CorpusError: a name leads out of the archive or comes twice, or a link names nothing that came before it.
    """
    members: dict[str, Any] = {}
    for name, member in found:
        shown, name = f"{path}: member {name!r}", _plain(name)
        if not is_safe_name(name):
            raise CorpusError(shown, "has a name that leads out of the archive", "do not trust it")
        if name in members:
            raise CorpusError(shown, "comes twice", "pack the corpus anew")
        if isinstance(member, str):
            if _plain(member) not in members:
                raise CorpusError(shown, f"is a link to {member!r}, which is no file before it", "pack the corpus anew")
            member = members[_plain(member)]
        if len(members) >= MAX_MEMBERS:
            raise CorpusError(str(path), f"has more than {MAX_MEMBERS} members", "that is no corpus")
        members[name] = member
    return members


def _plain(name: str) -> str:
    while name.startswith("./"):
        name = name[2:].lstrip("/")
    return name


def _top_folder(members: dict[str, Any]) -> str:
    if DESCRIPTION_NAME in members:
        return ""
    found = [name for name in members if name.endswith(f"/{DESCRIPTION_NAME}") and name.count("/") == 1]
    return found[0].removesuffix(DESCRIPTION_NAME) if len(found) == 1 else ""
