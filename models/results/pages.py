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

_TABLE = re.compile(r"(<!-- begin results: (\S+) -->\n)(.*?)(<!-- end results: \2 -->\n)", re.DOTALL)
_VALUE = re.compile(r"([+−]?\d+(?:\.(\d+))? %)((?:\*\*)?<!--= (\S+) (\S+) -->)")
_MARK = re.compile(r"<!--=|<!-- (?:begin|end) results")


def percent(ratio: float, digits: int = 2) -> str:
    """0.9884 as "−1.16 %"."""
    change = (ratio - 1) * 100
    rounded = f"{abs(change):.{digits}f}"
    sign = "" if float(rounded) == 0 else "−" if change < 0 else "+"
    return f"{sign}{rounded} %"


def renewed(page: str, tables: Mapping[str, str], models: pathlib.Path) -> str:
    """`page` with today's tables and values.

    Raises: ValueError: a mark is not closed, or names nothing that exists.
    """
    marks = len(_MARK.findall(page))
    found = 0

    def table(match: re.Match[str]) -> str:
        nonlocal found
        found += 2
        if match[2] not in tables:
            raise ValueError(f"no table is named {match[2]!r}; there are: {', '.join(sorted(tables))}")
        return match[1] + tables[match[2]].strip() + "\n" + match[4]

    def value(match: re.Match[str]) -> str:
        nonlocal found
        found += 1
        return percent(_value(models / match[4] / "result.json", match[5]), len(match[2] or "")) + match[3]

    page = _VALUE.sub(value, _TABLE.sub(table, page))
    if found != marks:
        raise ValueError(f"{marks} marks, but {found} of them belong to a table or follow a value such as '−1.16 %'")
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
