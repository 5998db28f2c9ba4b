"""How much the macros of gin settings stand for. gin evaluates each use again: a few lines stand for 10^100."""

import dataclasses
from collections.abc import Mapping
from typing import Any

#: Macros inside macros.
_DEEPEST = 16
#: Values that all settings of a run stand for; ours have some hundred.
_MOST_VALUES = 10_000


@dataclasses.dataclass(frozen=True)
class Macro:
    """A value `%name`."""

    name: str


class TooMuch(Exception):
    """Settings stand for too much; the message says why, and names a macro."""


def check_settings(settings: Mapping[str, Any]) -> None:
    """Checks what settings stand for.

    Args: settings: name of a macro or "CLASS.FIELD" -> value of literals, lists, tuples, dictionaries and Macros.
    Raises: TooMuch: macros name each other in a circle, lie too deep in each other, or stand for too many values.
    """
    sizes: dict[str, int] = {}
    total = 0
    for name, value in settings.items():
        total += _size(value, settings, sizes, (name,))
        if total > _MOST_VALUES:
            raise TooMuch(f"stands for more than {_MOST_VALUES:,} values, at {name}")


def _size(value: Any, settings: Mapping[str, Any], sizes: dict[str, int], inside: tuple[str, ...]) -> int:
    if isinstance(value, Macro):
        if value.name in inside:
            raise TooMuch(f"has macros that name each other: {' -> '.join((*inside, value.name))}")
        if len(inside) > _DEEPEST:
            raise TooMuch(f"has macros inside macros, more than {_DEEPEST} deep, at {inside[0]}")
        if value.name not in sizes:
            sizes[value.name] = _size(settings.get(value.name), settings, sizes, (*inside, value.name))
        return sizes[value.name]
    inner = [*value.keys(), *value.values()] if isinstance(value, dict) else value
    if not isinstance(inner, (list, tuple)):
        return 1
    return 1 + sum(_size(each, settings, sizes, inside) for each in inner)
