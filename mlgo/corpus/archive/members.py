"""Finds and reads the members of zip and tar archives with the standard library.

What a corpus does not need is refused. tarfile ends silently at the first header that it does not understand; here that
is an error, because half of a corpus may follow.
"""

import gzip
import io
import os
import pathlib
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from mlgo.corpus.description import CorpusError
from mlgo.run.regular_file import open_regular

#: How much larger than the file its content may be. Bitcode shrinks to a fourth; gzip shrinks zeros to a thousandth.
MAX_RATIO = 100
_RATIO_FREE_BYTES = 64 * 1024 * 1024
#: Limit of a member's name and extended header.
_MAX_HEADER_BYTES = 1024 * 1024
_COPIED_BYTES = 1024 * 1024
#: Of a member, before its name (APPNOTE.TXT, 4.3.7).
_ZIP_HEADER_BYTES = 30
_COPY_IT_AGAIN = "copy or download it again"
_NO_CORPUS = "that is no corpus; unpack it by hand if you trust it"
_REFUSED = {
    tarfile.SYMTYPE: "a symbolic link (pack it with tar --dereference)",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.FIFOTYPE: "a pipe",
}
_TAR_ERRORS = (tarfile.TarError, ValueError, OverflowError, struct.error, RecursionError)
_ZIP_ERRORS = (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError, EOFError, struct.error)


class SharedFile(io.RawIOBase):
    """A file for reading. The descriptor has no position of its own: each process has one, and `read_at` needs none."""

    def __init__(self, file: pathlib.Path | int):
        """Args: file: its path, or an open descriptor, which is closed with this object."""
        super().__init__()
        self._descriptor = file if isinstance(file, int) else _descriptor_of(file)
        status = os.fstat(self._descriptor)
        self.bytes = status.st_size
        #: Differs when the file was changed or exchanged.
        self.identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        self._position = 0

    def read_at(self, offset: int, count: int) -> bytes:
        """`count` bytes from `offset`; fewer only at the end of the file."""
        parts = []
        # One call reads 2 GiB at most.
        while count > 0 and (part := os.pread(self._descriptor, min(count, 1 << 30), offset)):
            parts.append(part)
            offset, count = offset + len(part), count - len(part)
        return b"".join(parts)

    def read(self, size: int = -1) -> bytes:
        content = self.read_at(self._position, self.bytes - self._position if size is None or size < 0 else size)
        self._position += len(content)
        return content

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.bytes}[whence]
        if start + offset < 0:
            raise ValueError(f"a position before the file: {start + offset}")
        self._position = start + offset
        return self._position

    def fileno(self) -> int:
        return self._descriptor

    def tell(self) -> int:
        return self._position

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed and hasattr(self, "_descriptor"):  # Absent when opening failed.
            os.close(self._descriptor)
        super().close()


def _descriptor_of(path: pathlib.Path) -> int:
    """A descriptor of its own for the regular file at `path`. Raises: OSError: it is none, or cannot be opened."""
    with open_regular(path) as descriptor:
        return os.dup(descriptor)


class TarMember(NamedTuple):
    """Where the content of a file lies in the uncompressed archive, in bytes; `link`: the target of a hard link."""

    offset: int
    file_size: int
    link: str | None


Member = TarMember | zipfile.ZipInfo


class _Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


def gunzipped(file: SharedFile, path: pathlib.Path) -> SharedFile:
    """The content of a gzip file, see `_decompressed`."""
    return _decompressed(gzip.GzipFile(fileobj=file), file, path, (OSError, EOFError, zlib.error))


def unzstandarded(file: SharedFile, path: pathlib.Path) -> SharedFile:
    """The content of a zstd file, see `_decompressed`. Raises: CorpusError: this program was built without zstd."""
    # Imported here: programs that read no such archive, Bazel's actions above all, have no third-party packages.
    try:
        import zstandard  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        wrong = "is compressed with zstd, which this program cannot read"
        raise CorpusError(str(path), wrong, "unpack it, or use .tar.gz or .zip") from error
    stream = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True, closefd=False)
    return _decompressed(stream, file, path, (zstandard.ZstdError,))


def _decompressed(
    stream: _Stream, file: SharedFile, path: pathlib.Path, damage: tuple[type[Exception], ...]
) -> SharedFile:
    """The content of a stream, in a temporary file without a name: members are then read at any place.

    Raises: CorpusError: the stream is damaged, holds more than MAX_RATIO times its size, or does not fit on the disk.
    """
    limit = _RATIO_FREE_BYTES + MAX_RATIO * file.bytes
    copied = 0
    try:
        with tempfile.TemporaryFile() as target:
            while part := _read_part(stream, path, damage):
                copied += len(part)
                if copied > limit:
                    wrong = f"holds more than {limit} bytes, {MAX_RATIO} times its own size"
                    raise CorpusError(str(path), wrong, _NO_CORPUS)
                target.write(part)
            target.flush()
            return SharedFile(os.dup(target.fileno()))
    except OSError as error:
        wrong = f"cannot be decompressed into {tempfile.gettempdir()}: {error.strerror}"
        raise CorpusError(str(path), wrong, "free space there, or set TMPDIR") from error


def _read_part(stream: _Stream, path: pathlib.Path, damage: tuple[type[Exception], ...]) -> bytes:
    try:
        return stream.read(_COPIED_BYTES)
    except damage as error:
        raise CorpusError(str(path), f"is damaged: {error}", _COPY_IT_AGAIN) from error


class _Headers(SharedFile):
    """A tar archive of which only headers are read: refuses larger parts, which a damaged header may ask for."""

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _MAX_HEADER_BYTES:
            raise tarfile.ReadError(f"a header of {size} bytes at byte {self.tell()}")
        return super().read(size)


def tar_members(file: SharedFile, path: pathlib.Path) -> Iterator[tuple[str, TarMember]]:
    """Name and place of each file and hard link, in the archive's order.

    Raises: CorpusError: the archive is truncated or damaged, or has a member that is no file, hard link or folder.
    """
    position = -1
    headers = _Headers(os.dup(file.fileno()))
    try:
        with tarfile.open(fileobj=headers, mode="r:", encoding="utf-8", errors="surrogateescape") as archive:
            for info in archive:
                if info.size < 0 or info.offset <= position:
                    raise tarfile.ReadError(f"the member at byte {info.offset} has {info.size} bytes")
                position = info.offset
                if {"path", "linkpath", "size"} & archive.pax_headers.keys():
                    wrong = "gives one name or size to all members (a global pax header)"
                    raise CorpusError(str(path), wrong, "pack it anew")
                if not info.isdir():
                    if reason := _tar_refusal(info):
                        raise CorpusError(f"{path}: member {info.name!r}", reason, "pack only files")
                    yield info.name, TarMember(info.offset_data, info.size, info.linkname if info.islnk() else None)
            end = archive.offset
    except _TAR_ERRORS as error:
        raise CorpusError(str(path), f"is damaged: {error}", _COPY_IT_AGAIN) from error
    last = file.read_at(end, tarfile.BLOCKSIZE)
    if len(last) < tarfile.BLOCKSIZE:
        wrong = f"is truncated: it ends at byte {end + len(last)} without an end mark"
        raise CorpusError(str(path), wrong, _COPY_IT_AGAIN)
    if any(last):
        raise CorpusError(str(path), f"is damaged: at byte {end} there is no header of a member", _COPY_IT_AGAIN)


def _tar_refusal(info: tarfile.TarInfo) -> str | None:
    if info.issparse() or info.type == tarfile.GNUTYPE_SPARSE:
        return "is a sparse file (pack it without --sparse)"
    if info.type in _REFUSED:
        return f"is {_REFUSED[info.type]}"
    if info.isreg() or (info.islnk() and info.size == 0):
        return None
    return f"is of the unknown kind {info.type!r}"


def read_tar_member(file: SharedFile, member: TarMember, shown: str) -> bytes:
    """The content of a member. Args: shown: its name in messages. Raises: CorpusError: it is cut off."""
    content = file.read_at(member.offset, member.file_size)
    if len(content) != member.file_size:
        raise CorpusError(shown, "is cut off", _COPY_IT_AGAIN)
    return content


def zip_members(file: SharedFile, path: pathlib.Path) -> tuple[zipfile.ZipFile, list[tuple[str, zipfile.ZipInfo]]]:
    """The archive, and name and header of each file in it, in the archive's order.

    Raises: CorpusError: it is truncated or damaged, holds more than MAX_RATIO times its size, or has a member
      that is no plain file.
    """
    try:
        archive = zipfile.ZipFile(file)
    except _ZIP_ERRORS as error:
        raise CorpusError(str(path), f"is no whole zip archive: {error}", _COPY_IT_AGAIN) from error
    infos = archive.infolist()
    total = sum(info.file_size for info in infos)
    if total > _RATIO_FREE_BYTES + MAX_RATIO * file.bytes:
        wrong = f"says that it holds {total} bytes, more than {MAX_RATIO} times its own size"
        raise CorpusError(str(path), wrong, _NO_CORPUS)
    end = archive.start_dir
    for info in sorted(infos, key=lambda info: info.header_offset, reverse=True):
        if info.header_offset < 0 or info.header_offset + _ZIP_HEADER_BYTES + info.compress_size > end:
            raise CorpusError(f"{path}: member {info.filename!r}", "overlaps another one", "pack the corpus anew")
        end = info.header_offset
    files = [info for info in infos if not info.filename.endswith("/")]  # is_dir() fails on an empty name.
    for info in files:
        if reason := _zip_refusal(info):
            raise CorpusError(f"{path}: member {info.filename!r}", reason, "pack only files, stored or deflated")
    return archive, [(_zip_name(info), info) for info in files]


def read_zip_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, shown: str) -> bytes:
    """The content of a member. Args: shown: its name in messages. Raises: CorpusError: it is damaged."""
    try:
        with archive.open(member) as file:
            # Not more than announced, however much the compressed content expands to.
            content = file.read(member.file_size)
    except (*_ZIP_ERRORS, zlib.error) as error:
        raise CorpusError(shown, f"is damaged: {error}", _COPY_IT_AGAIN) from error
    if len(content) != member.file_size:
        wrong = f"is damaged: it has {len(content)} bytes instead of {member.file_size}"
        raise CorpusError(shown, wrong, _COPY_IT_AGAIN)
    return content


def _zip_refusal(info: zipfile.ZipInfo) -> str | None:
    mode = info.external_attr >> 16
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "is a link or a device"
    if info.flag_bits & 0x1:
        return "is encrypted"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"is packed by method {info.compress_type}"
    if "\0" in info.orig_filename:
        return "has a NUL in its name"
    if not info.filename:
        return "has no name"
    return None


def _zip_name(info: zipfile.ZipInfo) -> str:
    # By the standard, names not marked as UTF-8 are in code page 437; packers on Unix put the file's bytes there.
    if info.flag_bits & 0x800:
        return info.filename
    return os.fsdecode(info.filename.encode("cp437"))
