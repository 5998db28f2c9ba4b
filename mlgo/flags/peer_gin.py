"""Reads gin files and bindings as ml-compiler-opt's documents have them, and runs and imports nothing of it."""

import pathlib
import re
from collections.abc import Callable, Iterator, Sequence

from mlgo.run.exit_codes import RunError
from mlgo.run.gin_text import MOST_BYTES, REMEDY, Binding, Include, parse
from mlgo.run.regular_file import read_text

#: Files that one file includes, directly or not; ml-compiler-opt's include three.
_MOST_INCLUDES = 32
#: Modules that ml-compiler-opt's files import, so that their settings exist. Nothing is imported.
_IMPORTED = re.compile(r"(compiler_opt|tf_agents|gin\.tf)(\..*)?")


def bindings_of_file(path: pathlib.Path, locate: Callable[[str], pathlib.Path | None]) -> list[Binding]:
    """The settings in a gin file and in the files that it includes, in their order.

    Args: locate: the file that a name in `include` stands for; None: there is none.
    Raises: RunError: a file cannot be read, is not gin, imports a module that is not ml-compiler-opt's, or includes
      itself or too many files.
    """
    return list(_File(locate).bindings(path, ()))


def bindings_of_flags(values: Sequence[str]) -> list[Binding]:
    """The settings in values of --gin_bindings. Raises: RunError: one is not gin."""
    found: list[Binding] = []
    for value in values:
        found += _of_text(value, f"--gin_bindings={value}", lambda name, source: iter(()))
    return found


class _File:
    """Reads a file and what it includes. Args: locate: see `bindings_of_file`."""

    def __init__(self, locate: Callable[[str], pathlib.Path | None]):
        self._locate = locate
        self._includes = 0

    def bindings(self, path: pathlib.Path, inside: tuple[pathlib.Path, ...]) -> Iterator[Binding]:
        """Args: inside: the files that are being read, from the outermost."""
        source = f"gin file ({path})"

        def included(name: str, source: str) -> Iterator[Binding]:
            found = self._locate(name) or path.parent / pathlib.PurePosixPath(name).name
            self._includes += 1
            if found in (*inside, path):
                raise RunError(source, f"includes {name!r}, which includes it", "Remove the circle")
            if self._includes > _MOST_INCLUDES:
                raise RunError(source, f"includes {name!r}, the file number {self._includes}", "Include fewer files")
            return self.bindings(found, (*inside, path))

        return _of_text(read_text(path, MOST_BYTES, "gin file", REMEDY), source, included)


def _of_text(text: str, source: str, included: Callable[[str, str], Iterator[Binding]]) -> Iterator[Binding]:
    for statement in parse(text, source):
        if isinstance(statement, Binding):
            yield statement
        elif isinstance(statement, Include):
            yield from included(statement.filename, source)
        elif not _IMPORTED.fullmatch(statement.module):
            raise RunError(source, f"imports the module {statement.module}, which would run it", REMEDY)
