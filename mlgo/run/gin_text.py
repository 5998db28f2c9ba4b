"""Reads gin files and bindings without running anything of them.

gin itself imports any module that a file names, reads files that it includes, and calls what follows an `@`. Limits are
checked before gin's parser sees a text: it recurses, and long values cost n^2. The longest gin file in use has 5 KB.
"""

import dataclasses
import io
import math
import tokenize
from typing import Any

from gin import config_parser

from mlgo.run.exit_codes import RunError

#: Of one file, or of all bindings together.
MOST_BYTES = 64 * 1024
_MOST_TOKENS = 10_000
#: Brackets inside brackets.
_DEEPEST = 32
#: Digits of a whole number.
_MOST_DIGITS = 40
# What gin's parser raises.
_GIN_ERRORS = (tokenize.TokenError, SyntaxError, TypeError, ValueError, RecursionError, MemoryError, OverflowError)
REMEDY = "Write every setting as `CLASS.FIELD = VALUE` with a literal value"


@dataclasses.dataclass(frozen=True)
class Reference:
    """A value `@name`, or with `evaluate` `@name()`; the two are equal."""

    name: str
    evaluate: bool = dataclasses.field(default=False, compare=False)


@dataclasses.dataclass(frozen=True)
class Macro:
    """A value `%name`."""

    name: str


@dataclasses.dataclass(frozen=True)
class Binding:
    """One setting."""

    selector: str  #: what is set, without its scope: "CLASS", or the name of a macro.
    key: str  #: "CLASS.FIELD", or the name of a macro; with the scope, if there is one.
    value: Any  #: a literal, which may contain References and Macros.
    source: str  #: the file or flag, for messages.


@dataclasses.dataclass(frozen=True)
class Import:
    """A statement that asks for a module, which is not imported."""

    module: str


@dataclasses.dataclass(frozen=True)
class Include:
    """A statement that asks for another file, which is not read."""

    filename: str


class _Described(config_parser.ParserDelegate):
    """Describes what gin would look up."""

    def configurable_reference(self, scoped_configurable_name: str, evaluate: bool) -> Reference:
        return Reference(scoped_configurable_name, evaluate)

    def macro(self, macro_name: str) -> Macro:
        return Macro(macro_name)


def parse(text: str, subject: str) -> list[Binding | Import | Include]:
    """The statements of a gin file. Raises: RunError: `text` passes a limit, or is no gin; names `subject`."""
    check_text(text, subject)
    found: list[Binding | Import | Include] = []
    try:
        for statement in config_parser.ConfigParser(named(text, subject), _Described()):
            if isinstance(statement, config_parser.BindingStatement):
                scope = f"{statement.scope}/" if statement.scope else ""
                field = f".{statement.arg_name}" if statement.arg_name else ""
                key = f"{scope}{statement.selector}{field}"
                found.append(Binding(statement.selector, key, statement.value, subject))
            elif isinstance(statement, config_parser.ImportStatement):
                found.append(Import(statement.module))
            elif isinstance(statement, config_parser.IncludeStatement):
                found.append(Include(statement.filename))
    except _GIN_ERRORS as error:
        # gin appends the place, over several lines.
        first = (str(error) or type(error).__name__).partition("\n")[0].strip()
        raise RunError(subject, f"is not written in gin's syntax: {first}", REMEDY) from error
    return found


def named(text: str, name: str) -> io.StringIO:
    """`text` as a file, so that gin's messages name it."""
    file = io.StringIO(text)
    file.name = name
    return file


def check_text(text: str, subject: str) -> None:
    """Raises: RunError: `text` passes a limit, or is no gin at all; names `subject`."""
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
                wrong = f"has the number {token.string[:_MOST_DIGITS]}... in line {token.start[0]}, which is too large"
                raise RunError(subject, wrong, REMEDY)
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
