"""Reads Debian binary packages: the control text, and the files with modes and owners. Unpacks nothing to disk."""

import io
import lzma
import os
import pathlib
import re
import tarfile
from collections.abc import Iterator

import unpack

#: Time stamp of all members, in seconds since the epoch.
TIME_STAMP = 0


class PackageError(Exception):
    """A .deb file cannot be read; the message names the file and the remedy."""


def _part(archive: str | os.PathLike[str], prefix: str) -> tarfile.TarFile:
    """The tar inside a package whose name starts with `prefix`: "control.tar" or "data.tar"."""
    origin = pathlib.Path(archive).name
    with open(archive, "rb") as file:
        for name, size in unpack.ar_members(file, origin):
            if not name.startswith(prefix):
                continue
            packed = io.BytesIO(file.read(size))
            if name.endswith((".zst", ".lzma")):
                raise PackageError(
                    f"{origin}: {name} is compressed in a way this reader does not know; pin a package of bookworm"
                )
            return tarfile.open(
                fileobj=lzma.open(packed) if name.endswith(".xz") else packed,
                mode="r|" if name.endswith(".xz") else "r:*",
            )
    raise PackageError(f"{origin}: no {prefix} inside; delete it and fetch it again")


def control(archive: str | os.PathLike[str]) -> str:
    """The package's control text: "Package: zlib1g\\nVersion: ...".

    Raises: PackageError: the file is no package, or damaged.
    """
    with _reading(archive), _part(archive, "control.tar") as tar:
        for member in tar:
            if os.path.normpath(member.name) == "control":
                return tar.extractfile(member).read().decode("utf-8")
    raise PackageError(f"{pathlib.Path(archive).name}: no control file inside; delete it and fetch it again")


def package_name(archive: str | os.PathLike[str]) -> str:
    """The name in the package's control text.

    Raises: PackageError: there is none, or the file is no package.
    """
    found = re.search(r"^Package: (\S+)$", control(archive), re.MULTILINE)
    if found is None:
        raise PackageError(
            f"{pathlib.Path(archive).name}: no Package line in its control file; delete it and fetch it again"
        )
    return found[1]


def members(archive: str | os.PathLike[str]) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """The package's files in the archive's order, each with its content (empty unless it is a regular file).

    Paths are without a leading slash, with top-level bin, lib and sbin merged into usr/ as on an installed Debian 12;
    hard links name their target that way too. Time stamps and user names are gone; numeric owners and modes are the
    package's.

    Raises: PackageError: the file is no package, damaged, or a path leaves the tree.
    """
    origin = pathlib.Path(archive).name
    with _reading(archive), _part(archive, "data.tar") as tar:
        for member in tar:
            path = unpack.normal_path(member.name, 0, True, origin)
            if path is None:
                continue
            info = tarfile.TarInfo(path)
            info.type, info.mode, info.uid, info.gid, info.mtime = (
                member.type,
                member.mode,
                member.uid,
                member.gid,
                TIME_STAMP,
            )
            content = b""
            if member.isfile():
                content = tar.extractfile(member).read()
                info.size = len(content)
            elif member.islnk():
                info.linkname = unpack.normal_path(member.linkname, 0, True, origin)
            elif member.issym():
                info.linkname = member.linkname
            elif not member.isdir():
                raise PackageError(f"{origin}: {path} is a device or pipe; leave the package out")
            yield info, content


class _reading:
    """Converts the exceptions of the archive readers to PackageError."""

    def __init__(self, archive: str | os.PathLike[str]):
        self._origin = pathlib.Path(archive).name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind, error, traceback) -> None:
        if isinstance(error, (tarfile.TarError, lzma.LZMAError, EOFError, UnicodeDecodeError)):
            raise PackageError(f"{self._origin}: damaged ({error}); delete it and fetch it again") from error
        if isinstance(error, unpack.UnpackError):
            raise PackageError(str(error)) from error
