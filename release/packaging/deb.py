"""Reads Debian binary packages: the control text, and the files with modes and owners. Unpacks nothing to disk."""

import contextlib
import io
import lzma
import os
import pathlib
import re
import tarfile
from collections.abc import Iterator

import unpack

from mlgo.run.exit_codes import RunError

#: Time stamp of all members, in seconds since the epoch.
TIME_STAMP = 0


_FETCH_AGAIN = "Delete it and fetch it again"


def _part(archive: str | os.PathLike[str], prefix: str) -> tarfile.TarFile:
    """The tar inside a package whose name starts with `prefix`: "control.tar" or "data.tar"."""
    origin = pathlib.Path(archive).name
    with open(archive, "rb") as file:
        for name, size in unpack.ar_members(file, origin):
            if not name.startswith(prefix):
                continue
            packed = io.BytesIO(file.read(size))
            if name.endswith((".zst", ".lzma")):
                raise RunError(f"{origin}: {name}", "its compression is not supported", "Pin a package of bookworm")
            return tarfile.open(
                fileobj=lzma.open(packed) if name.endswith(".xz") else packed,
                mode="r|" if name.endswith(".xz") else "r:*",
            )
    raise RunError(origin, f"has no {prefix} inside", _FETCH_AGAIN)


def control(archive: str | os.PathLike[str]) -> str:
    """The package's control text: "Package: zlib1g\\nVersion: ...".

    Raises: RunError: the file is no package, or damaged.
    """
    with _reading(archive), _part(archive, "control.tar") as tar:
        for member in tar:
            if member.isfile() and os.path.normpath(member.name) == "control":
                return unpack.content_of(tar, member).read().decode("utf-8")
    raise RunError(pathlib.Path(archive).name, "has no control file inside", _FETCH_AGAIN)


def package_name(archive: str | os.PathLike[str]) -> str:
    """The name in the package's control text.

    Raises: RunError: there is none, or the file is no package.
    """
    found = re.search(r"^Package: (\S+)$", control(archive), re.MULTILINE)
    if found is None:
        raise RunError(pathlib.Path(archive).name, "has no Package line in its control file", _FETCH_AGAIN)
    return found[1]


def members(archive: str | os.PathLike[str]) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """The package's files in the archive's order, each with its content (empty unless it is a regular file).

    Paths are without a leading slash, with top-level bin, lib and sbin merged into usr/ as on an installed Debian 12;
    hard links name their target that way too. Time stamps and user names are gone; numeric owners and modes are the
    package's.

    Raises: RunError: the file is no package, damaged, or a path leaves the tree.
    """
    origin = pathlib.Path(archive).name
    with _reading(archive), _part(archive, "data.tar") as tar:
        for member in tar:
            path = unpack.normal_path(member.name, 0, True, origin)
            if path is None:
                continue
            info = tarfile.TarInfo(path)
            info.type, info.mode, info.mtime = member.type, member.mode, TIME_STAMP
            info.uid, info.gid = member.uid, member.gid
            content = b""
            if member.isfile():
                content = unpack.content_of(tar, member).read()
                info.size = len(content)
            elif member.islnk():
                info.linkname = unpack.hard_link_target(member, 0, True, origin)
            elif member.issym():
                info.linkname = member.linkname
            elif not member.isdir():
                raise RunError(f"{origin}: {path}", "is a device or pipe", "Leave the package out")
            yield info, content


@contextlib.contextmanager
def _reading(archive: str | os.PathLike[str]) -> Iterator[None]:
    """Converts the exceptions of the archive readers to RunError."""
    try:
        yield
    except (tarfile.TarError, lzma.LZMAError, EOFError, UnicodeDecodeError) as error:
        raise RunError(pathlib.Path(archive).name, f"is damaged ({error})", _FETCH_AGAIN) from error
    except unpack.UnpackError as error:
        # Its text has the same three parts: FILE: what is wrong; what to do.
        text, _, remedy = str(error).partition("; ")
        subject, _, wrong = text.partition(": ")
        raise RunError(subject, wrong, remedy) from error
