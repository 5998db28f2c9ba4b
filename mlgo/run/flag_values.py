"""Values of flags that several commands read in the same form: named paths and percentages."""

import math
import pathlib
import re
from collections.abc import Collection, Sequence

from mlgo.run import locate
from mlgo.run.exit_codes import RunError

# A folder of results has this name; . and .. would be others.
_NAME = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9_.-]+")


def parse_percent(flag: str, value: str | None) -> float | None:
    """0.001 for "0.1" and "0.1%"; None for None. Raises: RunError: `value` is not a percentage."""
    if value is None:
        return None
    try:
        share = float(value.strip().removesuffix("%")) / 100.0
    except ValueError:
        share = math.nan
    if not math.isfinite(share):
        raise RunError(f"{flag}={value}", "is not a percentage", "Give one such as 0.1%")
    return share


def named_paths(flag: str, values: Sequence[str], reserved: Collection[str] = ()) -> dict[str, pathlib.Path]:
    """Paths by name, read from values of the form [NAME=]PATH; the default is `default_name`.

    Args: flag: "" for positional arguments; reserved: names that have another meaning.
    Raises: RunError: a name is taken, reserved or not usable as the name of a folder.
    """
    prefix = f"{flag}=" if flag else ""
    found: dict[str, pathlib.Path] = {}
    for value in values:
        given, separator, rest = value.partition("=")
        path = locate.user_path(rest if separator else value)
        name = given if separator else default_name(path)
        if name in found or name in reserved or not _NAME.fullmatch(name):
            wrong = f"would have the name {name!r}, which is taken or not usable"
            raise RunError(f"{prefix}{value}", wrong, f"Give {prefix}NAME=PATH")
        found[name] = path
    return found


def default_name(path: pathlib.Path) -> str:
    """The name of `path` where none is given: its last part; for ".../NAME/policy" it is NAME."""
    return path.parent.name if path.name == "policy" else path.name
