"""Run by `debian.tree` and `debian.source`: fetches pinned archives and unpacks them into the current directory.

Reads one JSON object on standard input:
  entries   list of lock entries with their `name`
  kind      "packages" or "source"
  include, exclude, keep_bazel_files   as in unpack.py
  rpath     directories below the tree that hold its shared libraries; when given, every ELF file with dependencies
            searches them first, so that the programs of the tree run on a machine without these libraries
  patchelf  lock entries of the program that sets rpath and of the libraries that it needs besides glibc
An error gives exit code 1 and one line on standard error.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Callable, Iterator, List, Sequence

import fetch
import lockfile
import mirrors
import unpack

#: Where Debian has shared libraries of this platform.
LIBRARIES = "usr/lib/x86_64-linux-gnu"


class PatchError(unpack.UnpackError):
    """patchelf failed on a file of the tree."""


def dynamic_elf_files(root: pathlib.Path) -> Iterator[pathlib.Path]:
    """Programs and shared libraries below `root`, sorted; objects and archives are not among them."""
    for path in sorted(root.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        with open(path, "rb") as file:
            header = file.read(18)
        # e_type 2 is ET_EXEC, 3 is ET_DYN (elf.h).
        if header[:4] == b"\x7fELF" and header[16:18] in (b"\x02\x00", b"\x03\x00"):
            yield path


def run_path(file: pathlib.Path, root: pathlib.Path, directories: Sequence[str]) -> str:
    """The DT_RPATH that lets `file` find the tree's libraries wherever the tree lies."""
    return ":".join(f"$ORIGIN/{os.path.relpath(root / name, file.parent)}" for name in directories)


def set_run_paths(root: pathlib.Path, directories: Sequence[str], patchelf: pathlib.Path) -> None:
    """Sets DT_RPATH (searched for a library's own dependencies too, unlike DT_RUNPATH) on every dynamic ELF file.

    Args:
        root: the tree.
        directories: those of the tree that hold its shared libraries.
        patchelf: a tree that holds patchelf and its libraries, which the machine need not have.
    Raises:
        PatchError: patchelf cannot run, or fails on a file.
    """
    program = str(patchelf / "usr/bin/patchelf")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(patchelf / LIBRARIES)}
    probe = subprocess.run([program, "--version"], capture_output=True, text=True, env=environment)
    if probe.returncode:
        raise PatchError(f"patchelf cannot run on this machine ({probe.stderr.strip()}); it needs glibc 2.36 or newer")
    for path in dynamic_elf_files(root):
        needed = subprocess.run([program, "--print-needed", path], capture_output=True, text=True, env=environment)
        if needed.returncode or not needed.stdout.strip():
            continue
        stamp = path.stat().st_mtime
        done = subprocess.run(
            [program, "--force-rpath", "--set-rpath", run_path(path, root, directories), path],
            capture_output=True,
            text=True,
            env=environment,
        )
        if done.returncode:
            raise PatchError(f"{path.relative_to(root)}: patchelf failed ({done.stderr.strip()}); exclude the file")
        os.utime(path, (stamp, stamp))


def make_tree(request: dict, root: pathlib.Path) -> None:
    """Carries out one request (see the module's docstring) below `root`."""
    entries: List[lockfile.Entry] = [lockfile.Entry(**fields) for fields in request["entries"]]
    patchelf = [lockfile.Entry(**fields) for fields in request["patchelf"]] if request.get("rpath") else []
    archives = fetch.fetch_with_environment(list(dict.fromkeys(entries + patchelf)), os.environ)
    for entry in entries:
        if request["kind"] == "source":
            unpack.unpack_source(
                archives[entry],
                root,
                include=request["include"],
                exclude=request["exclude"],
                keep_bazel_files=request["keep_bazel_files"],
            )
        else:
            unpack.unpack_deb(archives[entry], root, exclude=request["exclude"])
    if patchelf:
        with tempfile.TemporaryDirectory() as scratch:
            for entry in patchelf:
                unpack.unpack_deb(archives[entry], scratch)
            set_run_paths(root, request["rpath"], pathlib.Path(scratch))


def run(work: Callable[[dict, pathlib.Path], None]) -> int:
    """Calls `work` with the request on standard input and the current directory; returns the exit code."""
    try:
        work(json.load(sys.stdin), pathlib.Path.cwd())
    except (fetch.FetchError, lockfile.LockError, mirrors.MirrorError, unpack.UnpackError) as error:
        print(f"debian: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        where = error.filename or "the output base"
        print(f"debian: {where}: {error.strerror}; free space or correct permissions and run again", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(run(make_tree))
