"""Reads gin files and bindings that hold values only: settings come from others too, and must not run code.

gin itself imports any module that a file names, reads files that it includes, and calls what follows an `@`.
"""

import io
import pathlib
import tokenize
from collections.abc import Sequence
from typing import Any

import gin
from gin import config_parser

from mlgo.run.exit_codes import RunError
from mlgo.run.gin_text import MOST_BYTES, REMEDY, check_text
from mlgo.run.regular_file import read_text
from mlgo.training.gin_macros import Macro, TooMuch, check_settings

#: Parts of gin's own selectors, which make values in other ways than a setting does: `a/macro.value = 1` is `a = 1`.
_OF_GIN = frozenset({"macro", "constant", "singleton"})


def set_configuration(paths: Sequence[str | pathlib.Path], bindings: Sequence[str]) -> None:
    """Replaces gin's configuration by what the files and then the bindings say.

    Raises:
      RunError: a file cannot be read, or a file or binding holds more than values; nothing of it was executed.
      ValueError, TypeError, AttributeError, SyntaxError: a setting does not exist, or its value is malformed.
    """
    sources = [(read_text(path, MOST_BYTES, "gin file", REMEDY), f"gin file ({path})") for path in paths]
    sources.append(("\n".join(bindings), "--gin_bindings"))
    settings: dict[str, Any] = {}
    for text, subject in sources:
        settings.update(_checked(text, subject))
        try:
            check_settings(settings)
        except TooMuch as error:
            raise RunError(subject, str(error), REMEDY) from error
    gin.clear_config()
    for text, subject in sources:
        gin.parse_config(_named(text, subject))
    gin.finalize()


class _ValuesOnly(config_parser.ParserDelegate):
    """Refuses references to code, and describes macros, which are values."""

    def configurable_reference(self, scoped_configurable_name: str, evaluate: bool):
        raise _Refused(f"refers to code: @{scoped_configurable_name}{'()' if evaluate else ''}")

    def macro(self, macro_name: str) -> Macro:
        return Macro(macro_name)


class _Refused(Exception):
    """What a source holds besides values."""


def _checked(text: str, subject: str) -> dict[str, Any]:
    """The settings in `text`, by name, macros as `Macro`. Raises: see `set_configuration`."""
    check_text(text, subject)
    found: dict[str, Any] = {}
    try:
        for statement in config_parser.ConfigParser(_named(text, subject), _ValuesOnly()):
            if isinstance(statement, config_parser.ImportStatement):
                raise _Refused(f"imports the module {statement.module}, which would run it")
            if isinstance(statement, config_parser.IncludeStatement):
                raise _Refused(f"includes the file {statement.filename!r}; give each file by its own flag")
            if isinstance(statement, config_parser.BindingStatement):
                if not _OF_GIN.isdisjoint(statement.selector.split(".")):
                    raise _Refused(f"sets {statement.selector}, which is gin's own")
                scope = f"{statement.scope}/" if statement.scope else ""
                argument = f".{statement.arg_name}" if statement.arg_name else ""
                found[f"{scope}{statement.selector}{argument}"] = statement.value
    except _Refused as error:
        # gin appends the place, over several lines.
        raise RunError(subject, str(error).partition("\n")[0], REMEDY) from error
    except (tokenize.TokenError, TypeError, RecursionError, MemoryError, OverflowError) as error:
        raise RunError(subject, f"is not written in gin's syntax: {error}", REMEDY) from error
    return found


def _named(text: str, name: str) -> io.StringIO:
    """`text` as a file, so that gin's messages name it."""
    file = io.StringIO(text)
    file.name = name
    return file
