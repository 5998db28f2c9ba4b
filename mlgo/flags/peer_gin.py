"""Reads gin files and bindings as ml-compiler-opt's documents have them, and runs and imports nothing of it."""

import dataclasses
import io
import pathlib
import re
import tokenize
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gin import config_parser

from mlgo.run.exit_codes import RunError
from mlgo.run.gin_text import MOST_BYTES, REMEDY, check_text
from mlgo.run.regular_file import read_text

#: Files that one file includes, directly or not; ml-compiler-opt's include three.
_MOST_INCLUDES = 32
#: Modules that ml-compiler-opt's files import, so that their settings exist. Nothing is imported.
_IMPORTED = re.compile(r"(compiler_opt|tf_agents|gin\.tf)(\..*)?")


@dataclasses.dataclass(frozen=True)
class Reference:
    """A value `@name` or `@name()`."""

    name: str


@dataclasses.dataclass(frozen=True)
class Macro:
    """A value `%name`."""

    name: str


@dataclasses.dataclass(frozen=True)
class Binding:
    """One setting.

    Attributes:
      key: "CLASS.FIELD", or the name of a macro.
      value: a literal, which may contain References and Macros.
      source: the file or flag, for messages.
    """

    key: str
    value: Any
    source: str


class _Described(config_parser.ParserDelegate):
    def configurable_reference(self, scoped_configurable_name: str, evaluate: bool) -> Reference:
        return Reference(scoped_configurable_name)

    def macro(self, macro_name: str) -> Macro:
        return Macro(macro_name)


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
    check_text(text, source)
    file = io.StringIO(text)
    file.name = source
    try:
        statements = list(config_parser.ConfigParser(file, _Described()))
    except (
        tokenize.TokenError,
        SyntaxError,
        TypeError,
        ValueError,
        RecursionError,
        MemoryError,
        OverflowError,
    ) as error:
        first = (str(error) or type(error).__name__).partition("\n")[0].strip()
        raise RunError(source, f"is not written in gin's syntax: {first}", REMEDY) from error
    for statement in statements:
        if isinstance(statement, config_parser.ImportStatement):
            if not _IMPORTED.fullmatch(statement.module):
                raise RunError(source, f"imports the module {statement.module}, which would run it", REMEDY)
        elif isinstance(statement, config_parser.IncludeStatement):
            yield from included(statement.filename, source)
        elif isinstance(statement, config_parser.BindingStatement):
            scope = f"{statement.scope}/" if statement.scope else ""
            name = f".{statement.arg_name}" if statement.arg_name else ""
            yield Binding(f"{scope}{statement.selector}{name}", statement.value, source)
