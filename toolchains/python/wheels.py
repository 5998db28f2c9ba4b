"""Unpacks wheels and pure source archives into one site directory: the same archives give the same bytes on every
machine.

Unlike an installer this writes no Python script, no RECORD, no byte code and no absolute path, and it never runs code
of the archive. Programs of a wheel go to `site/bin`. Files that are not needed at run time are left out (`TRIMMED_*`),
and those that a C++ compiler needs go beside the site (`BESIDE`), so that the site remains small enough to be one input
of every test.
"""

import os
import pathlib
import posixpath
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator

# Directories that C++ targets compile against, with the name they get beside the site.
BESIDE = {"tensorflow/include": "tensorflow_include", "tensorflow/xla_aot_runtime_src": "xla_aot_runtime_src"}
TRIMMED_DIRECTORIES = frozenset({"tests", "testdata"})
TRIMMED_SUFFIXES = (".pxd", ".pyx", ".h", ".hpp", ".a")
# Files that depend on the installer or on time.
TRIMMED_ALWAYS = (".pyc", "/RECORD", "/INSTALLER", "/REQUESTED", "/direct_url.json")
# Types for a type checker; only the checker's own description of the standard library is used.
TYPES = ".pyi"
KEPT_TYPES = "mypy/typeshed/"
# Folder of a wheel's `.data` folder -> folder of the site.
SCHEMES = {"platlib": "", "purelib": "", "scripts": "bin/"}
# Its modules import one another across folders named like tests.
WHOLE = "tensorflow/"
TIME_STAMP = 315532800  # 1980-01-01, the earliest a zip archive can hold
BAZEL_FILES = frozenset({"BUILD", "BUILD.bazel", "MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel", "REPO.bazel"})


class WheelError(Exception):
    """An archive that cannot be unpacked; names the file, what is wrong with it and what to do."""


def destination(path: str) -> str | None:
    """Where a file of a wheel goes, relative to the directory that holds `site`; None when it is left out.

    Args:
        path: its place in the wheel with the `.data` folder's scheme resolved, such as `numpy/__init__.py`.
    """
    for source, target in BESIDE.items():
        if path.startswith(source + "/"):
            return target + path[len(source) :]
    directory, name = posixpath.split(path)
    if name in BAZEL_FILES or path.endswith(TRIMMED_ALWAYS):
        return None
    if path.endswith(TYPES) and not path.startswith(KEPT_TYPES):
        return None
    if not path.startswith(WHOLE) and (
        TRIMMED_DIRECTORIES.intersection(directory.split("/")) or name.endswith(TRIMMED_SUFFIXES)
    ):
        return None
    return "site/" + path


def place_in_wheel(name: str, origin: str) -> str | None:
    """A wheel member's path once installed: `x-1.data/purelib/a.py` is `a.py`; None for a C header.

    Raises:
        WheelError: the path would leave the site.
    """
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or "\\" in name:
        raise WheelError(f"{origin}: member {name!r} lies outside the archive's tree; do not use this archive")
    if parts[0].endswith(".data") and len(parts) > 1:
        return SCHEMES[parts[1]] + "/".join(parts[2:]) if parts[1] in SCHEMES else None
    return name


def unpack_wheel(wheel: pathlib.Path, root: pathlib.Path) -> int:
    """Unpacks a wheel below `root` and returns how many files that made.

    Raises:
        WheelError: no wheel, damaged, or a member that would leave `root`.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            count = 0
            for info in archive.infolist():
                if info.is_dir():
                    continue
                place = place_in_wheel(info.filename, wheel.name)
                target = destination(place) if place else None
                if not target:
                    continue
                with archive.open(info) as source:
                    if target.startswith("site/bin/"):
                        # A Python script would need the interpreter's absolute path in its first line.
                        if source.read(4) != b"\x7fELF":
                            continue
                        source.seek(0)
                    executable = (info.external_attr >> 16) & stat.S_IXUSR
                    _write(root / target, source, bool(executable))
                count += 1
            return count
    # RuntimeError: a member is encrypted, or compressed in a way that Python does not know.
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, RuntimeError, zlib.error) as error:
        raise WheelError(
            f"{wheel.name}: damaged ({error}); delete it from pip's cache (pip cache purge) and run again"
        ) from None


def unpack_source(archive: pathlib.Path, root: pathlib.Path) -> int:
    """Unpacks the importable packages of a pure source archive below `root` and returns how many files that made.

    A package is a top-level folder with an `__init__.py`.

    Raises:
        WheelError: not a tarball, damaged, holds compiled code to be built, or no package.
    """
    try:
        with tarfile.open(archive) as tar:
            members = {m.name.partition("/")[2]: m for m in tar.getmembers() if m.isfile() and "/" in m.name}
            packages = {
                name.split("/")[0] for name in members if name.count("/") == 1 and name.endswith("/__init__.py")
            }
            packages -= TRIMMED_DIRECTORIES
            if not packages:
                raise WheelError(
                    f"{archive.name}: holds no Python package; take a wheel (drop `source` in requirements.in)"
                )
            count = 0
            for name in sorted(members):
                if name.split("/")[0] not in packages:
                    continue
                place = place_in_wheel(name, archive.name)
                target = destination(place) if place else None
                if target:
                    _write(root / target, tar.extractfile(members[name]), False)
                    count += 1
            return count
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise WheelError(
            f"{archive.name}: damaged ({error}); delete it from pip's cache (pip cache purge) and run again"
        ) from None


def _write(path: pathlib.Path, source, executable: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
    path.chmod(0o755 if executable else 0o644)
    os.utime(path, (TIME_STAMP, TIME_STAMP))


def archives_in(directory: pathlib.Path) -> Iterator[pathlib.Path]:
    """Wheels and source archives of a directory, sorted by name."""
    yield from sorted(p for p in directory.iterdir() if p.name.endswith((".whl", ".tar.gz", ".zip")))
