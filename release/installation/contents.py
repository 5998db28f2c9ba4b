"""The files of an installed compiler: unpacked from an archive, recorded by digest, compared with the record."""

import hashlib
import os
import pathlib
import posixpath
import shutil
import tarfile
from typing import IO

from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.files import encode_json, read_json
from mlgo.run.regular_file import open_regular

#: Path of a file -> sha256 of its content, or "-> TARGET" of a link. It does not list itself.
RECORD = "files.json"
_COPY_BYTES = 1 << 20


def unpack(archive: pathlib.Path, folder: pathlib.Path) -> None:
    """Unpacks a tar with one top folder: what is in that folder goes to `folder`. Writes RECORD, and flushes all.

    Raises: RunError: the archive holds something else than files, directories and relative links.
    """
    record = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            path = member.name.rstrip("/").partition("/")[2]
            if not path:
                continue
            if ".." in path.split("/") or not (member.isfile() or member.isdir() or member.issym()):
                raise RunError(archive.name, f"holds {member.name}", "Report this defect", ExitCode.INTERNAL_ERROR)
            target = folder / path
            if member.isdir():
                target.mkdir(parents=True, exist_ok=True)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if member.issym():
                target.symlink_to(member.linkname)
            else:
                with open(target, "xb") as file:
                    shutil.copyfileobj(of_member(tar, member), file, _COPY_BYTES)
                    os.fchmod(file.fileno(), member.mode & 0o777)
                    file.flush()
                    os.fsync(file.fileno())
            record[path] = _described(target)
    for directory, _, _ in os.walk(folder):
        os.chmod(directory, 0o755)  # As files, whatever the umask: other users run the compiler.
    with open(folder / RECORD, "xb") as file:
        os.fchmod(file.fileno(), 0o644)
        file.write(encode_json(record))
        file.flush()
        os.fsync(file.fileno())


def of_member(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    """The content of a regular file in a tar."""
    content = tar.extractfile(member)
    assert content is not None, member.name
    return content


def differences(folder: pathlib.Path) -> list[str]:
    """Paths below `folder` that were added, removed or changed since `unpack`; [""] when there is no record of them."""
    if not (folder / RECORD).is_file() or folder.is_symlink():
        return [""]
    try:
        record = read_json(folder / RECORD, "the list of files", "Remove the directory")
    except RunError:
        return [RECORD]
    if not isinstance(record, dict):
        return [RECORD]
    found = {}
    for directory, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(directory, name))]
        for name in [*names, *links]:
            path = pathlib.Path(directory, name)
            found[posixpath.normpath(path.relative_to(folder).as_posix())] = _described(path)
    del found[RECORD]
    return sorted(path for path in {*found, *record} if found.get(path) != record.get(path))


def _described(path: pathlib.Path) -> str:
    if path.is_symlink():
        return f"-> {os.readlink(path)}"
    try:
        with open_regular(path) as descriptor, open(descriptor, "rb", closefd=False) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"no file that can be read: {error.strerror}"
