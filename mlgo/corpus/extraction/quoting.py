"""Command lines as text: what a shell or a GNU response file makes of blanks, quotes and backslashes."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator

from mlgo.run.exit_codes import RunError
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

#: The response file of Chromium's largest link has 3 MB.
_MOST_BYTES = 64 * 1024**2
#: Of one command: response files, counted each time that they are named, and words. A file may name another twice, and
#: so on: 20 short files stand for a million.
_MOST_FILES = 256
_MOST_WORDS = 2_000_000


def split_shell(text: str) -> list[str]:
    """Splits a command as a POSIX shell does, without expansions (a `command` of compile_commands.json)."""
    return _split(
        text, _SHELL, lambda quoted: _SHELL_ESCAPE.sub(lambda m: m[1].replace("\n", ""), quoted), lambda quoted: quoted
    )


def split_response(text: str) -> list[str]:
    """The arguments in a GNU response file (`clang @file`, `ld.lld @file`)."""
    unescaped = functools.partial(_ANY_ESCAPE.sub, r"\1")
    return _split(text, _RESPONSE, unescaped, unescaped)


def expand_response_files(arguments: Iterable[str], read: Callable[[str], str | None]) -> Iterator[str]:
    """`arguments` with each `@file` replaced by what is in the file; one that cannot be read stays, as clang has it.

    Args:
      read: the text of a response file by the name after the `@`; None: there is none.

    Raises: RunError: a file names itself, directly or not, or there are too many files or words.
    """
    files = words = 0
    # What is being read: the name of a file, "" for `arguments`, and its words that are left.
    inside: list[tuple[str, Iterator[str]]] = [("", iter(arguments))]
    while inside:
        argument = next(inside[-1][1], None)
        if argument is None:
            inside.pop()
            continue
        name = argument[1:] if argument.startswith("@") else ""
        if name and any(name == outer for outer, _ in inside):
            raise _unusable(name, "names itself")
        text = read(name) if name else None
        if text is None:
            yield argument
            words += 1
        else:
            inside.append((name, iter(split_response(text))))
            files += 1
        if files > _MOST_FILES or words > _MOST_WORDS:
            wrong = f"is one of more than {_MOST_FILES} files, or of {_MOST_WORDS:,} words, that the command stands for"
            raise _unusable(inside[-1][0] or name, wrong)


def _unusable(name: str, wrong: str) -> RunError:
    return RunError(f"response file {name} of a command", wrong, "Give a command without it, or write the file again")


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
