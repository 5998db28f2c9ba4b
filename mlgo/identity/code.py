"""What the result of a command depends on; of mlgo's own code, a changed file makes earlier results another version's.

What only shows results does not count (pages, reporting, the rule of the package for pip), nor do tests, documentation,
and in commands texts: strings with a space in them, such as the help of a flag or a message.
"""

import ast
import hashlib
import importlib.metadata
import pathlib
import platform
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from mlgo.run.manifest import digest_of_file

#: Folders of mlgo on which the result of a compile depends, and how it is stored: as the table of mlgo/README.md has
#: them, these and none below them.
COMPILES = ("run", "problems", "corpus", "identity", "compiler", "score", "trace", "size_estimator")
#: The same for the result of a search.
SEARCHES = (*COMPILES, "evaluation", "search")
#: Name of the command modules, which lie in mlgo's own folder, beside the names of folders.
COMMANDS = "*.py"

_ROOT = pathlib.Path(__file__).parents[1]
_ONLY_SHOWN = frozenset(("pages", "reporting", "wheel"))
_WITHOUT_TEXTS = frozenset((COMMANDS, "commands"))
#: Sources, and the libraries that Python loads: a program has compiler/libtraining_log_reader.so but not its source.
_SUFFIXES = (".cc", ".h", ".py", ".so")
#: Programs of ours that have no suffix.
_PROGRAMS = frozenset(("limited_exec",))
_FOR_TESTS = frozenset(("testing", "testdata"))
#: Packages whose version can change a result.
_PACKAGES = ("numpy", "tensorflow-cpu", "tf-agents", "tensorflow-probability", "zstandard")


def code_digests(root: pathlib.Path = _ROOT) -> dict[str, str]:
    """sha256 of the code by folder of mlgo, and by COMMANDS of the commands: Bazel gives a program its own one."""
    folders = sorted(path.name for path in root.iterdir() if path.is_dir() and path.name not in _ONLY_SHOWN)
    found = {name: _digest_of(root, name) for name in (COMMANDS, *folders)}
    return {name: digest for name, digest in found.items() if digest is not None}


def digest_of_code(folders: Iterable[str], root: pathlib.Path = _ROOT) -> str:
    """One sha256 of the code in `folders` of mlgo, such as COMPILES. Args: root: mlgo's folder."""
    return hashlib.sha256("".join(f"{name} {_digest_of(root, name)}\n" for name in folders).encode()).hexdigest()


def _digest_of(root: pathlib.Path, name: str) -> str | None:
    """Digest of the names and contents of the code in a folder; None: it has none."""
    paths, whole = code_files(name, root), hashlib.sha256()
    for path in paths:
        content = _without_texts(path.read_bytes()) if name in _WITHOUT_TEXTS else path.read_bytes()
        whole.update(f"{path.relative_to(root)}\0{hashlib.sha256(content).hexdigest()}\n".encode())
    return whole.hexdigest() if paths else None


def code_files(name: str, root: pathlib.Path = _ROOT) -> list[pathlib.Path]:
    """The code in the folder `name` of mlgo, sorted. Args: root: mlgo's folder."""

    def is_code(path: pathlib.Path) -> bool:
        is_test = path.name.endswith("_test.py") or _FOR_TESTS & set(path.relative_to(root).parts)
        return (path.suffix in _SUFFIXES or path.name in _PROGRAMS) and not is_test and path.is_file()

    return sorted(filter(is_code, root.glob(name) if name == COMMANDS else (root / name).rglob("*")))


def _without_texts(source: bytes) -> bytes:
    """What the Python module `source` does, without its comments and texts."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            node.value = ""
    return ast.dump(tree).encode("utf-8", "surrogateescape")


def run_identity(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The identity with which a command claims its output folder (RunFolder.claim), as JSON values.

    Args: settings: its settings, and digests of its inputs and of the programs that it starts.
    Returns: these with "code", digests of mlgo's code by folder and of what Python does first (toolchains/python), and
      "versions" of the packages.
    """
    first = getattr(sys.modules.get("sitecustomize"), "__file__", None)
    code = {**code_digests(), **({"sitecustomize": digest_of_file(first)} if first else {})}
    return {**settings, "code": code, "versions": _versions()}


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "unknown"
    return found
