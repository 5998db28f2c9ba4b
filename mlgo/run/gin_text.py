"""Limits of gin files and bindings, checked before gin parses them: its parser recurses, and long values cost n^2.

The longest gin file of ours has 3 KB, of ml-compiler-opt 5 KB.
"""

import io
import math
import tokenize

from mlgo.run.exit_codes import RunError

#: Of one file, or of all bindings together.
MOST_BYTES = 64 * 1024
_MOST_TOKENS = 10_000
#: Brackets inside brackets.
_DEEPEST = 32
#: Digits of a whole number.
_MOST_DIGITS = 40
REMEDY = "Write every setting as `CLASS.FIELD = VALUE` with a literal value"


def check_text(text: str, subject: str) -> None:
    """Args: subject: what was read, for messages. Raises: RunError: `text` passes a limit, or is no gin at all."""
    if len(text) > MOST_BYTES:
        raise RunError(subject, f"has {len(text):,} characters, more than the {MOST_BYTES:,} allowed", REMEDY)
    depth = 0
    try:
        for count, token in enumerate(tokenize.generate_tokens(io.StringIO(text).readline)):
            if count > _MOST_TOKENS:
                raise RunError(subject, f"has more than {_MOST_TOKENS:,} words and signs", REMEDY)
            if token.type == tokenize.OP:
                depth += (token.string in "([{") - (token.string in ")]}")
                if depth > _DEEPEST:
                    wrong = f"has brackets inside brackets, more than {_DEEPEST} deep, in line {token.start[0]}"
                    raise RunError(subject, wrong, REMEDY)
            elif token.type == tokenize.NUMBER and not _is_usual(token.string):
                shown = token.string[:_MOST_DIGITS]
                raise RunError(
                    subject, f"has the number {shown}... in line {token.start[0]}, which is too large", REMEDY
                )
    except (tokenize.TokenError, SyntaxError) as error:
        said = str(error.args[0]) if error.args else "it ends early"
        raise RunError(subject, f"is not written in gin's syntax: {said}", REMEDY) from error


def _is_usual(number: str) -> bool:
    """Whether a number of Python is finite, and has no more digits than any setting needs."""
    if len(number) > _MOST_DIGITS:
        return False
    try:
        return math.isfinite(float(number.replace("_", "")))
    except (ValueError, OverflowError):
        return True  # Hexadecimal and the like; gin's parser judges it.
