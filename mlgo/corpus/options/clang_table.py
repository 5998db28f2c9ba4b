"""Reads clang's own table of options: which words cc1 and the driver know, what follows them, and what they set.

The table is Options.inc, which TableGen makes of clang/include/clang/Options/Options.td; Debian's libclang-dev has it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlgo.run.exit_codes import RunError

_ENTRY = re.compile(r"^(?P<macro>(?:[A-Z_]+_)?OPTION(?:_WITH_MARSHALLING)?)\(", re.MULTILINE)
_PREFIX_TABLE = re.compile(r"OptionPrefixesTable\[\] = \{(?P<rows>.*?)\};", re.DOTALL)
_PREFIX_ROW = re.compile(r"^\s*\d+ /\* prefixes \*/(?P<prefixes>.*)$", re.MULTILINE)
_SPELLING = re.compile(r"/\* (.*) \*/")

# Places in an entry. SubCommandIDs stands behind them.
_ID, _KIND, _ALIAS, _ALIAS_ARGUMENTS, _VISIBILITY, _COUNT, _VALUES = 2, 3, 5, 6, 8, 9, 13
#: Visibilities of options that clang's driver takes when it is called as `clang` or `clang++`.
_DRIVER = frozenset(("DefaultVis", "ClangOption"))
# An entry with marshalling goes on with: two flags, key path, default, implied (2), normaliser, denormaliser; up to
# LLVM 22 also merger and extractor; index.
_KEY_PATH, _NORMALIZER = 17, 21


def read_clang_table(text: str, shown: str) -> dict[str, dict[str, Any]]:
    """What cc1 knows: spelling -> its description.

    A description has: `kind`, how the value follows ("Flag", "Joined", "Separate", "JoinedOrSeparate", ...); `type`
    ("flag", "int", "string", or the list of the values of an enumeration); `sets`, the variable that clang stores the
    value in, where the table says so; `alias`, with the option and the fixed value that the spelling stands for.

    Args: shown: how messages call the file.
    Raises: RunError: this is no such table.
    """
    prefixes = _prefixes(text)
    entries: dict[str, list[str]] = {}
    marshalled: dict[str, list[str]] = {}
    for macro, arguments in _entries(text):
        (entries if macro == "OPTION" else marshalled)[arguments[_ID]] = arguments
    table: dict[str, dict[str, Any]] = {}
    for name, arguments in entries.items():
        if "CC1Option" not in arguments[_VISIBILITY].split(" | "):
            continue
        described = _described(arguments, marshalled.get(name), entries)
        table.update((spelling, described) for spelling in _spellings(arguments, prefixes))
    if not table:
        raise RunError(shown, "has no option of cc1", "give clang's Options.inc")
    return table


def read_driver_table(text: str) -> dict[str, dict[str, Any]]:
    """What clang's driver knows: spelling -> `kind` and `alias` as `read_clang_table` has them, and `count`, how many
    words follow an option of kind "MultiArg"."""
    prefixes = _prefixes(text)
    entries = {arguments[_ID]: arguments for macro, arguments in _entries(text) if macro == "OPTION"}
    table: dict[str, dict[str, Any]] = {}
    for arguments in entries.values():
        if _DRIVER.isdisjoint(arguments[_VISIBILITY].split(" | ")):
            continue
        described: dict[str, Any] = {"kind": arguments[_KIND], **_alias(arguments, entries)}
        if arguments[_KIND] == "MultiArg":
            described["count"] = int(arguments[_COUNT])
        # A word that begins with "/" is a file, but for clang-cl.
        spellings = (spelling for spelling in _spellings(arguments, prefixes) if spelling.startswith("-"))
        table.update((spelling, described) for spelling in spellings)
    return table


def _described(
    arguments: Sequence[str], marshalled: Sequence[str] | None, entries: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    described: dict[str, Any] = {"kind": arguments[_KIND], "type": _type(arguments, marshalled)}
    if marshalled is not None:
        described["sets"] = marshalled[_KEY_PATH]
    return {**described, **_alias(arguments, entries)}


def _alias(arguments: Sequence[str], entries: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    if arguments[_ALIAS] == "INVALID":
        return {}
    return {"alias": [_spelling(entries[arguments[_ALIAS]]), *_strings(arguments[_ALIAS_ARGUMENTS])]}


def _type(arguments: Sequence[str], marshalled: Sequence[str] | None) -> str | list[str]:
    if arguments[_KIND] == "Flag":
        return "flag"
    normalizer = marshalled[_NORMALIZER] if marshalled is not None else ""
    if normalizer.startswith("normalizeStringIntegral"):
        return "int"
    values = arguments[_VALUES]
    # "<major>.<minor>" among the values describes them.
    if values.startswith('"') and "<" not in values and normalizer in ("", "normalizeSimpleEnum"):
        return [value for value in "".join(re.findall(r'"([^"]*)"', values)).split(",") if value]
    return "string"


def _spelling(arguments: Sequence[str]) -> str:
    return _SPELLING.findall(arguments[1])[0]


def _spellings(arguments: Sequence[str], prefixes: Mapping[str, Sequence[str]]) -> list[str]:
    spelling, known = _spelling(arguments), prefixes[arguments[0]]
    used = next(prefix for prefix in sorted(known, key=len, reverse=True) if spelling.startswith(prefix))
    return [prefix + spelling.removeprefix(used) for prefix in known]


def _strings(text: str) -> list[str]:
    return [part for part in "".join(re.findall(r'"([^"]*)"', text)).split("\\0") if part]


def _prefixes(text: str) -> dict[str, list[str]]:
    """The prefixes of options by the word that names a set of them, its place in the table of all sets."""
    found: dict[str, list[str]] = {}
    place, table = 0, _PREFIX_TABLE.search(text)
    for row in _PREFIX_ROW.finditer(table["rows"]) if table else ():
        found[str(place)] = re.findall(r"'([^']*)'", row["prefixes"])
        place += 1 + len(found[str(place)])
    return found


def _entries(text: str) -> Iterator[tuple[str, list[str]]]:
    for start in _ENTRY.finditer(text):
        arguments = _arguments(text, start.end())
        if len(arguments) > _VALUES and arguments[_KIND] not in ("Group", "Input", "Unknown"):
            yield ("OPTION" if start["macro"] == "OPTION" else "MARSHALLING"), arguments


def _arguments(text: str, start: int) -> list[str]:
    """The arguments of the macro call whose opening parenthesis ends before `start`."""
    found, depth, place, begin = [], 0, start, start
    while depth >= 0:
        character = text[place]
        if character == '"':
            place = _end_of_string(text, place)
        elif text.startswith("/*", place):  # A spelling, which may have a comma: /* -Wl, */.
            place = text.index("*/", place) + 1
        elif character in "({[":
            depth += 1
        elif character in ")}]":
            depth -= 1
        elif character == "," and depth == 0:
            found.append(text[begin:place].strip())
            begin = place + 1
        place += 1
    found.append(text[begin : place - 1].strip())
    return found


def _end_of_string(text: str, opening: int) -> int:
    place = opening + 1
    while text[place] != '"':
        place += 2 if text[place] == "\\" else 1
    return place
