"""What several commands take from their command line in the same form: named paths, percentages."""

import math
import pathlib
import re
from collections.abc import Collection, Sequence

from mlgo.run import locate
from mlgo.run.exit_codes import RunError

_NAME = re.compile(r"[A-Za-z0-9_.-]+")


def percent_given(flag: str, value: str | None) -> float | None:
    """0.001 for "0.1" and "0.1%"; None for None.

    Raises: RunError: it is no percentage.
    """
    if value is None:
        return None
    try:
        share = float(value.strip().removesuffix("%")) / 100.0
    except ValueError:
        share = math.nan
    if not math.isfinite(share):
        raise RunError(f"{flag}={value}", "is no percentage", "Give one such as 0.1%")
    return share


def named_paths(flag: str, values: Sequence[str], reserved: Collection[str] = ()) -> dict[str, pathlib.Path]:
    """[NAME=]PATH by name; without one it is the path's last part, or of ".../policy" the one before.

    Args:
      flag: where they come from, for messages; "" for words that belong to no flag.
      reserved: names that mean something else.

    Raises: RunError: a name comes twice, or cannot be a folder's.
    """
    prefix = f"{flag}=" if flag else ""
    found: dict[str, pathlib.Path] = {}
    for value in values:
        given, separator, rest = value.partition("=")
        path = locate.user_path(rest if separator else value)
        name = given if separator else path.parent.name if path.name == "policy" else path.name
        if name in found or name in reserved or not _NAME.fullmatch(name):
            raise RunError(
                f"{prefix}{value}",
                f"would have the name {name!r}, which is taken or not usable",
                f"Give {prefix}NAME=PATH",
            )
        found[name] = path
    return found
