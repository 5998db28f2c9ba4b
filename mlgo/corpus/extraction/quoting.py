"""Command lines as text: what a shell or a GNU response file makes of blanks, quotes and backslashes."""

import functools
import os
import re
from collections.abc import Callable, Iterator, Sequence

from mlgo.run.regular_file import read_regular

_BLANKS = re.compile(r"[ \t\r\n\f\v]+")
_QUOTING = re.compile(r"[\"'\\]")

# One argument as a run of pieces. A shell does not interpret text in single quotes; in a response file a backslash is
# an escape there (llvm::cl::TokenizeGNUCommandLine). Both accept a missing closing quote.
_SHELL = re.compile(r"""([^ \t\r\n\f\v"'\\]+) | \\(.?) | "((?:[^"\\]|\\.)*)"? | '([^']*)'?""", re.VERBOSE | re.DOTALL)
_RESPONSE = re.compile(
    r"""([^ \t\r\n\f\v"'\\]+) | \\(.?) | "((?:[^"\\]|\\.)*)"? | '((?:[^'\\]|\\.)*)'?""", re.VERBOSE | re.DOTALL
)
_ANY_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_SHELL_ESCAPE = re.compile(r'\\(["\\$`]|\n)')

#: Response files may name response files; clang and ld stop somewhere too.
_DEEPEST = 20
#: The response file of Chromium's largest link has 3 MB.
_MOST_BYTES = 256 * 1024**2


def split_shell(text: str) -> list[str]:
    """Splits a command as a POSIX shell does, without expansions (a `command` of compile_commands.json)."""
    return _split(
        text, _SHELL, lambda quoted: _SHELL_ESCAPE.sub(lambda m: m[1].replace("\n", ""), quoted), lambda quoted: quoted
    )


def split_response(text: str) -> list[str]:
    """The arguments in a GNU response file (`clang @file`, `ld.lld @file`)."""
    unescaped = functools.partial(_ANY_ESCAPE.sub, r"\1")
    return _split(text, _RESPONSE, unescaped, unescaped)


def expand_response_files(arguments: Sequence[str], read: Callable[[str], str | None], depth: int = 0) -> Iterator[str]:
    """`arguments` with each `@file` replaced by what is in the file; one that cannot be read stays, as clang has it.

    Args:
      read: the text of a response file by the name after the `@`; None: there is none.
    """
    for argument in arguments:
        text = read(argument[1:]) if argument.startswith("@") and len(argument) > 1 and depth < _DEEPEST else None
        if text is None:
            yield argument
        else:
            yield from expand_response_files(split_response(text), read, depth + 1)


def response_file_reader(directory: str) -> Callable[[str], str | None]:
    """For `expand_response_files`: files relative to `directory`, bytes that are not UTF-8 kept."""

    def read(name: str) -> str | None:
        try:
            return os.fsdecode(read_regular(os.path.join(directory, name), _MOST_BYTES))
        except OSError:
            return None

    return read


def _split(
    text: str, pieces: re.Pattern[str], in_double: Callable[[str], str], in_single: Callable[[str], str]
) -> list[str]:
    if not _QUOTING.search(text):
        return [argument for argument in _BLANKS.split(text) if argument]
    arguments: list[str] = []
    position = 0
    current: list[str] | None = None
    while position < len(text):
        piece = pieces.match(text, position)
        if piece is None:  # A blank.
            if current is not None:
                arguments.append("".join(current))
                current = None
            position += 1
            continue
        plain, escaped, double, single = piece.groups()
        current = [] if current is None else current
        if plain is not None:
            current.append(plain)
        elif escaped is not None:
            current.append("" if escaped == "\n" else escaped)
        elif double is not None:
            current.append(in_double(double))
        else:
            current.append(in_single(single))
        position = piece.end()
    if current is not None:
        arguments.append("".join(current))
    return arguments
