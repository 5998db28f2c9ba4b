"""Whether a value is of the kind that its option takes."""

import re

from mlgo.corpus.options.table import ValueType

# The spellings that LLVM's parsers take (llvm/lib/Support/CommandLine.cpp), decimal or hexadecimal.
_PATTERNS = {
    "bool": re.compile(r"true|TRUE|True|false|FALSE|False|0|1"),
    "uint": re.compile(r"[0-9]{1,20}|0[xX][0-9a-fA-F]{1,16}"),
    "int": re.compile(r"-?([0-9]{1,20}|0[xX][0-9a-fA-F]{1,16})"),
    "double": re.compile(r"-?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,4})?"),
}


def is_of_type(kind: ValueType, value: str | None) -> bool:
    """Whether `value` (None: the option has none) is one that an option of this type takes; no string is."""
    if kind == "flag":
        return value is None
    if value is None:
        return kind == "bool"
    if isinstance(kind, tuple):
        return value in kind
    return kind in _PATTERNS and _PATTERNS[kind].fullmatch(value) is not None
