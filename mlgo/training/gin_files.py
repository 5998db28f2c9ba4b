"""Sets gin's configuration from files and bindings that hold values only: settings come from others too, and must not
run code.
"""

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import gin

from mlgo.run.exit_codes import RunError
from mlgo.run.gin_text import MOST_BYTES, REMEDY, Import, Include, Macro, Reference, named, parse
from mlgo.run.regular_file import read_text

#: Parts of gin's own selectors, which make values in other ways than a setting does: `a/macro.value = 1` is `a = 1`.
_OF_GIN = frozenset({"macro", "constant", "singleton"})
_DEEPEST = 16  #: macros inside macros.
#: Values that all settings of a run stand for; ours have some hundred. gin evaluates each use of a macro again: a few
#: lines stand for 10^100.
_MOST_VALUES = 10_000


class _Refused(Exception):
    """What a source holds besides values, or more of them than allowed."""


def set_configuration(paths: Sequence[str | pathlib.Path], bindings: Sequence[str]) -> None:
    """Replaces gin's configuration by what the files and then the bindings say.

    Raises:
      RunError: a file cannot be read or is no gin, or a file or binding holds more than values; nothing of it was
        executed.
      ValueError, TypeError, AttributeError: a setting does not exist, or its value is malformed.
    """
    sources = [(read_text(path, MOST_BYTES, "gin file", REMEDY), f"gin file ({path})") for path in paths]
    sources.append(("\n".join(bindings), "--gin_bindings"))
    settings: dict[str, Any] = {}
    for text, subject in sources:
        try:
            settings.update(_values(text, subject))
            _check_size(settings)
        except _Refused as error:
            raise RunError(subject, str(error), REMEDY) from error
    gin.clear_config()
    for text, subject in sources:
        gin.parse_config(named(text, subject))
    gin.finalize()


def _values(text: str, subject: str) -> dict[str, Any]:
    """The settings in `text`, by name. Raises: _Refused: it holds something else; RunError: it is no gin."""
    found: dict[str, Any] = {}
    for statement in parse(text, subject):
        if isinstance(statement, Import):
            raise _Refused(f"imports the module {statement.module}, which would run it")
        if isinstance(statement, Include):
            raise _Refused(f"includes the file {statement.filename!r}; give each file by its own flag")
        if not _OF_GIN.isdisjoint(statement.selector.split(".")):
            raise _Refused(f"sets {statement.selector}, which is gin's own")
        found[statement.key] = statement.value
    return found


def _check_size(settings: Mapping[str, Any]) -> None:
    """Args: settings: name of a macro or "CLASS.FIELD" -> literals, lists, tuples, dictionaries, Macros, References.
    Raises: _Refused: a setting refers to code, macros name each other in a circle or lie too deep in each other, or
      settings stand for too many values.
    """
    sizes: dict[str, int] = {}
    total = 0
    for name, value in settings.items():
        if (total := total + _size(value, settings, sizes, (name,))) > _MOST_VALUES:
            raise _Refused(f"stands for more than {_MOST_VALUES:,} values, at {name}")


def _size(value: Any, settings: Mapping[str, Any], sizes: dict[str, int], inside: tuple[str, ...]) -> int:
    if isinstance(value, Macro):
        if value.name in inside:
            raise _Refused(f"has macros that name each other: {' -> '.join((*inside, value.name))}")
        if len(inside) > _DEEPEST:
            raise _Refused(f"has macros inside macros, more than {_DEEPEST} deep, at {inside[0]}")
        if value.name not in sizes:
            sizes[value.name] = _size(settings.get(value.name), settings, sizes, (*inside, value.name))
        return sizes[value.name]
    if isinstance(value, Reference):
        raise _Refused(f"refers to code: @{value.name}{'()' if value.evaluate else ''}")
    inner = [*value.keys(), *value.values()] if isinstance(value, dict) else value
    if not isinstance(inner, (list, tuple)):
        return 1
    return 1 + sum(_size(each, settings, sizes, inside) for each in inner)
