"""Text from outside, made harmless for terminals and logs. Files for programs keep the exact text."""

from __future__ import annotations

import re

#: What a terminal or a viewer obeys: control characters (ESC, CR, BEL, C1), marks that reverse the direction of text,
#: separators of lines; the halves of surrogate pairs that stand for bytes outside UTF-8; and what nobody sees, so that
#: two names look alike (Default_Ignorable_Code_Point of Unicode, and interlinear annotations).
_CONTROL = (
    "\x00-\x1f\x7f-\x9f\u061c\u2028\u2029\ud800-\udfff"
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_IN_LINES = re.compile(f"(?![\n\t])[{_CONTROL}]")
_IN_ONE_LINE = re.compile(f"[{_CONTROL}]")
_BYTES = range(0xDC80, 0xDD00)


def printable(text: str) -> str:
    """`text` as one line: what a terminal would obey is escaped as in Python, `\\x1b` for ESC."""
    return _IN_ONE_LINE.sub(_escaped, text)


def printable_text(text: str) -> str:
    """The same for text of several lines: line ends and tabs stay."""
    return _IN_LINES.sub(_escaped, text)


def printable_value(value: object) -> object:
    """Texts as `printable_text` gives them, other values as they are: for templates, which show both."""
    # `type` and not `isinstance`: what a template has escaped for HTML is a text of another type.
    return printable_text(value) if type(value) is str else value


def printable_message(text: str) -> str:
    """The same for a message; lines after the first are indented: a name with a line end must not look like another."""
    first, *rest = printable_text(text).split("\n")
    return "\n".join([first, *(line if not line or line.startswith("  ") else f"  {line}" for line in rest)])


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code in _BYTES:  # A byte of a file name, as os.fsdecode gives it.
        return f"\\x{code - 0xDC00:02x}"
    return found[0].encode("unicode_escape").decode("ascii")
