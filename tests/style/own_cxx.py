"""The C++ of this project: not third_party, and not the programs that are inputs of tests and corpora."""

import pathlib

from tests.clones import clone

_FOLDERS = (
    "llvm",
    "release",
    "development",
    "mlgo/compiler",
    "tests/backends",
    "tests/benchmarks",
    "tests/fuzzing",
    "tests/security",
)


def files(root: pathlib.Path) -> list[pathlib.Path]:
    """C++ sources and headers below the workspace `root`, without generated ones that tests compare with."""
    return [
        path
        for path in clone.files(root)
        if path.suffix in (".cpp", ".cc", ".h")
        and path.relative_to(root).as_posix().startswith(tuple(folder + "/" for folder in _FOLDERS))
        and "testdata" not in path.parts
    ]
