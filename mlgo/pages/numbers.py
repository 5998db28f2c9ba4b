"""Numbers as texts: grouped digits, a minus sign, changes in percent with their intervals."""

import math
from typing import Any


def number(value: float, digits: int, signed: bool = False) -> str:
    """`value` with grouped thousands, a minus sign, and no sign before zero."""
    text = f"{value:+,.{digits}f}" if signed else f"{value:,.{digits}f}"
    if not any(digit in "123456789" for digit in text):
        text = text.lstrip("+-")
    return text.replace("-", "\N{MINUS SIGN}").replace(",", "\N{NARROW NO-BREAK SPACE}")


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def percent(value: float, digits: int = 2) -> str:
    """ "−1.40 %" for -1.4."""
    return f"{number(value, digits, signed=True)}\N{NARROW NO-BREAK SPACE}%"


def percent_of(ratio: float, digits: int = 2) -> str:
    """ "−1.40 %" for 0.986."""
    return percent(100.0 * (ratio - 1.0), digits)


def share_text(share: float, digits: int = 1) -> str:
    """ "12.3 %" for 0.123."""
    return f"{number(100.0 * share, digits)}\N{NARROW NO-BREAK SPACE}%"
