"""Reads gin files and bindings that hold values only: settings come from others too, and must not run code.

gin itself imports any module that a file names, reads files that it includes, and calls what follows an `@`.
"""

import io
import pathlib
import tokenize
from collections.abc import Sequence

import gin
from gin import config_parser

from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import read_text

#: Larger files are refused; the longest of ours has 3 KB.
_MOST_BYTES = 1024**2
_REMEDY = "Write every setting as `CLASS.FIELD = VALUE` with a literal value"


def set_configuration(paths: Sequence[str | pathlib.Path], bindings: Sequence[str]) -> None:
    """Replaces gin's configuration by what the files and then the bindings say.

    Raises:
      RunError: a file cannot be read, or a file or binding holds more than values; nothing of it was executed.
      ValueError, TypeError, AttributeError, SyntaxError: a setting does not exist, or its value is malformed.
    """
    sources = [(read_text(path, _MOST_BYTES, "gin file", _REMEDY), f"gin file ({path})") for path in paths]
    sources.append(("\n".join(bindings), "--gin_bindings"))
    for text, subject in sources:
        _check(text, subject)
    gin.clear_config()
    for text, subject in sources:
        gin.parse_config(_named(text, subject))
    gin.finalize()


class _ValuesOnly(config_parser.ParserDelegate):
    """Refuses references to code, and takes macros, which are values."""

    def configurable_reference(self, scoped_configurable_name: str, evaluate: bool):
        raise _Refused(f"refers to code: @{scoped_configurable_name}{'()' if evaluate else ''}")

    def macro(self, macro_name: str) -> None:
        return None


class _Refused(Exception):
    """What a source holds besides values."""


def _check(text: str, subject: str) -> None:
    try:
        for statement in config_parser.ConfigParser(_named(text, subject), _ValuesOnly()):
            if isinstance(statement, config_parser.ImportStatement):
                raise _Refused(f"imports the module {statement.module}, which would run it")
            if isinstance(statement, config_parser.IncludeStatement):
                raise _Refused(f"includes the file {statement.filename!r}; give each file by its own flag")
    except _Refused as error:
        # gin appends the place, over several lines.
        raise RunError(subject, str(error).partition("\n")[0], _REMEDY) from error
    except (tokenize.TokenError, RecursionError, MemoryError, OverflowError) as error:
        raise RunError(subject, f"is not written in gin's syntax: {error}", _REMEDY) from error


def _named(text: str, name: str) -> io.StringIO:
    """`text` as a file, so that gin's messages name it."""
    file = io.StringIO(text)
    file.name = name
    return file
