"""Objects that lie below a directory, for builds that can say nothing better about themselves."""

import os

from mlgo.corpus.extraction.listing import BuildObject, Listing
from mlgo.run.exit_codes import ExitCode, RunError

_OBJECT_SUFFIXES = (".o", ".obj")
#: What lld writes for `--save-temps=import`, and `--thinlto-emit-index-files` (lld/ELF/LTO.cpp, llvm/lib/LTO/LTO.cpp).
IMPORTED_SUFFIX = ".3.import.bc"
INDEX_SUFFIX = ".thinlto.bc"


def load(directory: str) -> Listing:
    """Every object file below `directory`, sorted. Raises: RunError: it is no directory."""
    return _listing(directory, [name for name in _files(directory) if name.endswith(_OBJECT_SUFFIXES)])


def load_local_thinlto(directory: str) -> Listing:
    """Every module that lld saved after importing; `stated` and `path` are without lld's suffix.

    Raises: RunError: there is none, or it is no directory.
    """
    names = [name.removesuffix(IMPORTED_SUFFIX) for name in _files(directory) if name.endswith(IMPORTED_SUFFIX)]
    found = [name for name in names if name and not name.endswith("/")]
    if not found:
        raise RunError(
            f"directory {directory}",
            f"has no *{IMPORTED_SUFFIX} below it, which ThinLTO within lld saves",
            "Link with -flto=thin -fuse-ld=lld -Wl,--save-temps=import -Wl,--thinlto-emit-index-files; full LTO (-flto)"
            " saves none",
            ExitCode.NOTHING_PRODUCED,
        )
    return _listing(directory, found)


def _listing(directory: str, names: list[str]) -> Listing:
    return Listing(tuple(BuildObject(name, os.path.join(directory, name), directory) for name in sorted(names)))


def _files(directory: str) -> list[str]:
    if not os.path.isdir(directory):
        raise RunError(
            f"directory {directory}", "is not a directory", "give the folder that the build wrote its objects to"
        )
    found = []
    for folder, _, names in os.walk(directory):
        relative = os.path.relpath(folder, directory)
        found += [name if relative == "." else f"{relative}/{name}" for name in names]
    return found
