"""Generated numbers in Markdown pages: tables between marks, and single values in prose.

A table stands between `<!-- begin results: NAME -->` and `<!-- end results: NAME -->`. A value stands before a comment
that names it, as in `+0.51 %<!--= regalloc_eviction/programs_pgo totals/run/policy/instructions/geometric_mean -->`:
the folder below models/ and the keys in its result.json. It is a ratio to the default, printed as a change with as many
digits as the page has.
"""

import json
import pathlib
import re
from collections.abc import Mapping
from typing import Any

from mlgo.pages import marks
from mlgo.pages.numbers import percent_of

_KIND = "results"
_VALUE = re.compile(r"([+−]?\d+(?:\.(\d+))? %)((?:\*\*)?<!--= (\S+) (\S+) -->)")


def percent(ratio: float, digits: int = 2) -> str:
    """0.9884 as "−1.16 %", with the plain space that people type."""
    return percent_of(ratio, digits).replace("\N{NARROW NO-BREAK SPACE}", " ")


def renewed(page: str, tables: Mapping[str, str], models: pathlib.Path) -> str:
    """`page` with today's tables and values.

    Raises: ValueError: a mark is not closed, or names nothing that exists.
    """
    for name in marks.section_names(page, _KIND):
        if name not in tables:
            raise ValueError(f"no table is named {name!r}; there are: {', '.join(sorted(tables))}")
        page = marks.with_section(page, _KIND, name, tables[name])

    def value(match: re.Match[str]) -> str:
        return percent(_value(models / match[4] / "result.json", match[5]), len(match[2] or "")) + match[3]

    page, found = _VALUE.subn(value, page)
    if found != page.count("<!--="):
        raise ValueError(f"{page.count('<!--=')} marks, but {found} of them follow a value such as '−1.16 %'")
    return page


def _value(path: pathlib.Path, keys: str) -> float:
    value: Any = json.loads(path.read_text(encoding="utf-8"))
    for key in keys.split("/"):
        if not isinstance(value, dict) or key not in value:
            raise ValueError(f"{path} has no value {keys}: it ends before {key!r}")
        value = value[key]
    if not isinstance(value, int | float):
        raise ValueError(f"{keys} in {path} is no number")
    return float(value)
