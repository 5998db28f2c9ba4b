"""Values and texts as C++ has them."""

import textwrap
from collections.abc import Iterable

import numpy as np

#: Columns of the generated files.
WIDTH = 120


def comment(text: str) -> list[str]:
    """`text` as lines of a comment of at most WIDTH characters."""
    return [f"// {line}" for line in textwrap.wrap(text, WIDTH - 3)]


def wrapped(values: Iterable[str], indent: int = 4) -> list[str]:
    """Values with commas, in lines of at most WIDTH characters."""
    text = ", ".join(values) + ","
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def float_literal(value: np.float32) -> str:
    """The shortest decimal that rounds to `value`, as a C++ literal."""
    return f"{np.float32(value)!s}f"


def string_literal(text: str) -> str:
    """`text` as a C++ literal, with "?" for what is not printable."""
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def printable(text: str) -> str:
    """ASCII without control characters, and no backslash at the end, which would continue a comment."""
    return "".join(c if " " <= c <= "~" else "?" for c in text).rstrip("\\")
