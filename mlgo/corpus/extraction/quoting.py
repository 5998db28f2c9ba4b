"""Commands of builds as text: what a shell or a GNU response file makes of blanks, quotes and backslashes, and the
entries of a compile_commands.json (https://clang.llvm.org/docs/JSONCompilationDatabase.html)."""

from __future__ import annotations

import dataclasses
import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mlgo.corpus.options.driver import output_of
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
    unescaped = functools.partial(_SHELL_ESCAPE.sub, lambda escape: escape[1].replace("\n", ""))
    return _split(text, _SHELL, unescaped, str)


def split_response(text: str) -> list[str]:
    """The arguments in a GNU response file (`clang @file`, `ld.lld @file`)."""
    unescaped = functools.partial(_ANY_ESCAPE.sub, r"\1")
    return _split(text, _RESPONSE, unescaped, unescaped)


def expand_response_files(arguments: Iterable[str], read: Callable[[str], str | None]) -> Iterator[str]:
    """`arguments` with each `@file` replaced by what is in the file; one that cannot be read stays, as clang has it.

    Args: read: the text of a response file by the name after the `@`; None: there is none.
    Raises: RunError: a file names itself, directly or not, or there are too many files or words, or a word is none.
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
            if not is_word(argument):
                raise RunError("a word of a command", f"holds what none can hold: {argument!r:.80}", "Correct the file")
            yield argument
            words += 1
        else:
            inside.append((name, iter(split_response(text))))
            files += 1
        if files > _MOST_FILES or words > _MOST_WORDS:
            wrong = f"is one of more than {_MOST_FILES} files, or of {_MOST_WORDS:,} words, that the command stands for"
            raise _unusable(inside[-1][0] or name, wrong)


def is_word(text: str) -> bool:
    """Whether a program can be given `text`: JSON and response files may have a NUL, or half of a surrogate pair."""
    try:
        return "\0" not in text and (text.isascii() or bool(os.fsencode(text)))
    except UnicodeEncodeError:
        return False


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
    arguments: list[list[str]] = []
    end = -1
    for piece in pieces.finditer(text):
        if piece.start() != end:  # Blanks before it, or it is the first.
            arguments.append([])
        end = piece.end()
        plain, escaped, double, single = piece.groups()
        if double is not None:
            plain = in_double(double)
        elif single is not None:
            plain = in_single(single)
        elif escaped is not None:
            plain = escaped.replace("\n", "")
        arguments[-1].append(plain)
    return ["".join(argument) for argument in arguments]


@dataclasses.dataclass(frozen=True)
class DatabaseEntry:
    """A command of a build."""

    #: Folder in which it runs, absolute.
    directory: str
    #: With the compiler, response files expanded.
    words: tuple[str, ...]
    #: What it compiles, absolute; None: the entry does not say.
    source: str | None
    #: The object, as the command or the entry names it; None: it writes none.
    output: str | None


def read_entry(entry: Any, base: str, reader: Callable[[str], Callable] = response_file_reader) -> DatabaseEntry | str:
    """The command of one entry of a compile_commands.json; a text: why there is none.

    Args:
      base: folder that a relative `directory` is relative to.
      reader: folder -> what gives the text of response files named there.
    """
    reason = _unusable_entry(entry)
    if reason is not None:
        return reason
    directory = os.path.normpath(os.path.join(base, entry["directory"]))
    words = entry.get("arguments")
    if words is None:
        words = split_shell(entry["command"])
    try:
        words = tuple(expand_response_files(words, reader(directory)))
    except RunError as error:
        return f"{error.subject} {error.wrong}"
    output = output_of(words, entry.get("file")) or entry.get("output")
    source = os.path.normpath(os.path.join(directory, entry["file"])) if entry.get("file") else None
    return DatabaseEntry(directory, words, source, output if output and output not in ("-", os.devnull) else None)


def _unusable_entry(entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return "it is not an object"
    for key in ("directory", "file", "output", "command"):
        if entry.get(key) is not None and not isinstance(entry[key], str):
            return f"its `{key}` is not text"
        if key != "command" and not is_word(entry.get(key) or ""):
            return f"its `{key}` holds what no name of a file can hold"
    if not entry.get("directory"):
        return "it has no `directory`"
    words = entry.get("arguments")
    if words is None and entry.get("command") is None:
        return "it has neither `command` nor `arguments`"
    if words is not None and not (isinstance(words, list) and all(isinstance(word, str) for word in words)):
        return "its `arguments` are not a list of texts"
    return None
