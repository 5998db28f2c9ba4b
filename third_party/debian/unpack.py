"""Unpacks Debian packages and upstream tarballs as relocatable trees.

No maintainer script runs. Top-level `bin`, `lib`, `lib64` and `sbin` are merged into `usr/` as on an installed Debian,
absolute symbolic links become relative, and time stamps become equal, so that the same archives give the same tree on
every machine.
"""

import bz2
import fnmatch
import gzip
import io
import lzma
import os
import pathlib
import posixpath
import shutil
import subprocess
import tarfile
import zlib
from typing import IO, BinaryIO, Iterator, Optional, Sequence, Set, Tuple, Union

MERGED_INTO_USR = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
# Bazel would take their folders for packages or workspaces.
BAZEL_FILES = ("BUILD", "BUILD.bazel", "MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel", "REPO.bazel")
TIME_STAMP = 1


#: What the decompressors and tarfile raise for a damaged archive.
DAMAGED = (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError)


class UnpackError(Exception):
    """An archive that cannot be unpacked; names the file and what is wrong with it."""


def _damaged(error: BaseException, subject: str) -> Exception:
    """What to raise for an error while unpacking.

    The decompressors report damage as OSError without a number. One with a number comes from the machine, such as a
    full disk, and is returned as it is.
    """
    if isinstance(error, OSError) and error.errno is not None:
        return error
    return UnpackError(f"{subject} damaged ({error}); delete it and fetch it again")


def ar_members(file: BinaryIO, origin: str) -> Iterator[Tuple[str, int]]:
    """Yields (name, size) of each member of an `ar` archive with `file` positioned at its content.

    Raises:
        UnpackError: no ar archive, or a truncated one.
    """
    if file.read(8) != b"!<arch>\n":
        raise UnpackError(f"{origin}: no Debian package (ar signature missing); delete it and fetch it again")
    while True:
        header = file.read(60)
        if not header:
            return
        if len(header) != 60 or header[58:] != b"`\n" or not header[48:58].strip().isdigit():
            raise UnpackError(f"{origin}: truncated at byte {file.tell()}; delete it and fetch it again")
        size = int(header[48:58])
        start = file.tell()
        yield header[:16].decode("ascii", "replace").strip().rstrip("/"), size
        file.seek(start + size + size % 2)


def _decompressed(file: BinaryIO, name: str, origin: str) -> Union[BinaryIO, io.BufferedIOBase]:
    if name.endswith(".xz"):
        return lzma.open(file)
    if name.endswith(".gz"):
        return gzip.open(file)
    if name.endswith(".bz2"):
        return bz2.open(file)
    if name.endswith(".zst"):
        try:
            done = subprocess.run(["zstd", "-dc"], input=file.read(), stdout=subprocess.PIPE, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise UnpackError(
                f"{origin}: {name} is compressed with zstd and zstd failed ({error}); install the package zstd"
            ) from None
        return io.BytesIO(done.stdout)
    return file


def unpack_deb(archive, dest, exclude: Sequence[str] = (), keep_bazel_files: bool = False) -> None:
    """Unpacks the files of a Debian binary package below `dest`.

    Args:
        archive: path of the .deb file.
        dest: directory, made if needed; other packages may already be in it.
        exclude: shell patterns of paths (`usr/share/doc/*`) to leave out.
        keep_bazel_files: keep the package's own BUILD and MODULE files (Bazel's own packages need them).

    Raises:
        UnpackError: not a package, truncated, or a member that would leave `dest`.
    """
    origin = pathlib.Path(archive).name
    with open(archive, "rb") as file:
        for name, size in ar_members(file, origin):
            if not name.startswith("data.tar"):
                continue
            content = io.BufferedReader(_Slice(file, file.tell(), size))
            try:
                with tarfile.open(fileobj=_decompressed(content, name, origin), mode="r|") as tar:
                    _extract(
                        tar,
                        pathlib.Path(dest),
                        origin,
                        exclude=exclude,
                        merge_usr=True,
                        drop_bazel_files=not keep_bazel_files,
                    )
            except DAMAGED as error:
                raise _damaged(error, f"{origin}: {name} is") from None
            return
    raise UnpackError(f"{origin}: no data.tar inside; delete it and fetch it again")


def unpack_source(
    archive, dest, include: Sequence[str] = (), exclude: Sequence[str] = (), keep_bazel_files: bool = False
) -> None:
    """Unpacks an upstream tarball below `dest` without its top-level folder.

    Args:
        archive: path of the tarball, compressed with xz, gzip or bzip2.
        dest: directory, made if needed.
        include: path prefixes or shell patterns below the top-level folder; empty means everything.
        exclude: shell patterns to leave out.
        keep_bazel_files: keep the archive's own BUILD and MODULE files.

    Raises:
        UnpackError: not a tarball, truncated, or an include that matches nothing.
    """
    origin = pathlib.Path(archive).name
    used: Set[str] = set()
    try:
        with tarfile.open(archive, mode="r|*") as tar:
            _extract(
                tar,
                pathlib.Path(dest),
                origin,
                exclude=exclude,
                include=include,
                used=used,
                strip=1,
                drop_bazel_files=not keep_bazel_files,
            )
    except DAMAGED as error:
        raise _damaged(error, f"{origin}:") from None
    unused = [pattern for pattern in include if pattern not in used]
    if unused:
        raise UnpackError(f"{origin}: nothing in it matches {', '.join(unused)}; correct `include`")


class _Slice(io.RawIOBase):
    """A read-only window of a file, so that a decompressor stops at the member's end."""

    def __init__(self, file: BinaryIO, start: int, size: int):
        super().__init__()
        self._file, self._position, self._end = file, start, start + size

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        raise io.UnsupportedOperation("a window has no descriptor")

    def readinto(self, buffer) -> int:
        self._file.seek(self._position)
        data = self._file.read(min(len(buffer), self._end - self._position))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)


def matches(path: str, patterns: Sequence[str]) -> Optional[str]:
    """The first pattern that is a prefix of `path` (when it ends in /), equal to it or a shell pattern for it."""
    for pattern in patterns:
        if (
            path == pattern
            or (pattern.endswith("/") and path.startswith(pattern))
            or fnmatch.fnmatchcase(path, pattern)
        ):
            return pattern
    return None


def normal_path(name: str, strip: int, merge_usr: bool, origin: str) -> Optional[str]:
    """The path of a member below the destination, or None for the root itself.

    Raises:
        UnpackError: the path is absolute, climbs out or holds a NUL.
    """
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or "\0" in name:
        raise UnpackError(f"{origin}: member {name!r} lies outside the archive's tree; do not use this archive")
    parts = parts[strip:]
    if merge_usr and parts and parts[0] in MERGED_INTO_USR:
        parts.insert(0, "usr")
    return "/".join(parts) or None


def hard_link_target(member: tarfile.TarInfo, strip: int, merge_usr: bool, origin: str) -> str:
    """The path below the destination of the file that a hard link repeats.

    Raises:
        UnpackError: as `normal_path`, or it is the root itself.
    """
    path = normal_path(member.linkname, strip, merge_usr, origin)
    if path is None:
        raise UnpackError(f"{origin}: member {member.name!r} is a hard link to the root; do not use this archive")
    return path


def content_of(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    """Reads `member`, a regular file."""
    content = tar.extractfile(member)
    assert content is not None, f"{member.name} is no regular file"
    return content


def refuse_way_out(dest: pathlib.Path, target: pathlib.Path, member: str) -> None:
    """Raises: UnpackError: symbolic links that the archive brought lead from `target` out of `dest`."""
    root = os.path.realpath(dest)
    if os.path.commonpath([root, os.path.realpath(target)]) != root:
        raise UnpackError(f"{member} is written through a link that leads out of the tree; do not use this archive")


def relative_link(path: str, target: str, merge_usr: bool) -> str:
    """A symbolic link's target as it must read at `path` when the tree's root is not `/`."""
    if not target.startswith("/"):
        return target
    inside = target.lstrip("/")
    if merge_usr and inside.split("/")[0] in MERGED_INTO_USR:
        inside = "usr/" + inside
    return posixpath.relpath(inside, posixpath.dirname(path) or ".")


def _extract(
    tar: tarfile.TarFile,
    dest: pathlib.Path,
    origin: str,
    *,
    exclude: Sequence[str],
    include: Sequence[str] = (),
    used: Optional[Set[str]] = None,
    strip: int = 0,
    merge_usr: bool = False,
    drop_bazel_files: bool = True,
) -> None:
    dest.mkdir(parents=True, exist_ok=True)
    for member in tar:
        path = normal_path(member.name, strip, merge_usr, origin)
        if path is None or matches(path, exclude):
            continue
        if include:
            pattern = matches(path, include)
            if pattern is None:
                continue
            if used is not None:
                used.add(pattern)
        if drop_bazel_files and posixpath.basename(path) in BAZEL_FILES and not member.isdir():
            continue
        target = dest / path
        refuse_way_out(dest, target if member.isdir() else target.parent, f"{origin}: member {member.name!r}")
        if member.isdir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_symlink() or target.exists():
            target.unlink()
        if member.issym():
            target.symlink_to(relative_link(path, member.linkname, merge_usr))
        elif member.islnk():
            linked = hard_link_target(member, strip, merge_usr, origin)
            refuse_way_out(dest, dest / linked, f"{origin}: member {member.name!r}")
            if (dest / linked).exists():
                os.link(dest / linked, target)
        elif member.isfile():
            with open(target, "wb") as file:
                shutil.copyfileobj(content_of(tar, member), file, 1 << 20)
            target.chmod(0o755 if member.mode & 0o111 else 0o644)
            os.utime(target, (TIME_STAMP, TIME_STAMP))
    if merge_usr:
        for name in MERGED_INTO_USR:
            if (dest / "usr" / name).is_dir() and not os.path.lexists(dest / name):
                (dest / name).symlink_to(posixpath.join("usr", name))
