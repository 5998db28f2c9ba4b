"""The licence that a source file states about itself (https://spdx.dev/learn/handling-license-info/)."""

import functools
import os
import re

from mlgo.run.regular_file import open_regular

_IDENTIFIER = re.compile(rb"SPDX-License-Identifier:[ \t]*([^\r\n]*)")
# An expression: identifiers, AND, OR, WITH, parentheses. What follows, such as the end of a comment, is not part of it.
_EXPRESSION = re.compile(r"[A-Za-z0-9.+()\-: ]+")
_WORDS = re.compile(r"\(*[A-Za-z0-9][A-Za-z0-9.+\-:]*\)*")
#: The line stands at the top; licences in full before it have up to some kilobytes.
_HEAD_BYTES = 16 * 1024


@functools.lru_cache(maxsize=1 << 16)
def of_source(path: str) -> str | None:
    """The SPDX expression in the source file at `path`; None: it has none, or cannot be read."""
    try:
        with open_regular(path) as source:
            head = os.read(source, _HEAD_BYTES)
    except OSError:
        return None
    return expression_in(head)


def expression_in(text: bytes) -> str | None:
    """The first SPDX expression that `text` states."""
    stated = _IDENTIFIER.search(text)
    if stated is None:
        return None
    expression = _EXPRESSION.match(stated[1].decode("ascii", "replace"))
    words = []
    for word in expression[0].split() if expression else ():
        if not _WORDS.fullmatch(word):
            break
        words.append(word)
    return " ".join(words) or None


def is_expression(text: str) -> bool:
    """Whether `text` can be an SPDX expression, as a value of --licence."""
    return expression_in(b"SPDX-License-Identifier: " + text.encode("utf-8", "replace")) == " ".join(text.split()) != ""
