"""The fields of a JSON object that others may have written: each is read with its type, or an error names it."""

import math
from collections.abc import Mapping
from typing import Any, TypeVar

from mlgo.run.exit_codes import RunError

_Kind = TypeVar("_Kind")
_NAMES = {str: "a text", int: "an integer", float: "a number", bool: "true or false", list: "a list", dict: "an object"}


class Fields:
    """Reads the fields of one JSON object. Args: subject: what was read: "the policy's record (policy.json)".

    Raises: RunError: `value` is not an object.
    """

    def __init__(self, value: Any, subject: str, remedy: str):
        self._subject, self._remedy = subject, remedy
        if not isinstance(value, dict):
            raise RunError(subject, "is not a JSON object", remedy)
        self._value: Mapping[str, Any] = value

    def read(self, name: str, kind: type[_Kind]) -> _Kind:
        """The field `name`; an integer is a float too. Raises: RunError: it is absent, not of `kind`, or not finite."""
        if name not in self._value:
            raise self.error(f"has no field {name!r}")
        value = self._value[name]
        if kind is float and type(value) is int and abs(value) <= 2**1000:
            value = float(value)
        # `type` and not `isinstance`: true is no number here.
        if type(value) is not kind or (isinstance(value, float) and not math.isfinite(value)):
            raise self.error(f"has a field {name!r} that is not {_NAMES[kind]}")
        return value

    def texts(self, name: str) -> list[str]:
        """The field `name`, a list of texts. Raises: RunError: it is not one."""
        values = self.read(name, list)
        if not all(isinstance(value, str) for value in values):
            raise self.error(f"has a field {name!r} that is not a list of texts")
        return values

    def texts_by_name(self, name: str) -> dict[str, str]:
        """The field `name`, an object of texts. Raises: RunError: it is not one."""
        values = self.read(name, dict)
        if not all(isinstance(value, str) for value in values.values()):
            raise self.error(f"has a field {name!r} that is not an object of texts")
        return values

    def integers_by_name(self) -> dict[str, int]:
        """All fields, integers. Raises: RunError: one is none."""
        return {name: self.read(name, int) for name in self._value}

    def inner(self, name: str) -> "Fields":
        """The fields of the object `name`. Raises: RunError: it is not one."""
        return Fields(self.read(name, dict), f"{self._subject}, field {name!r}", self._remedy)

    def has(self, name: str) -> bool:
        """Whether there is a field `name`."""
        return name in self._value

    def error(self, wrong: str) -> RunError:
        """An error about this object."""
        return RunError(self._subject, wrong, self._remedy)
