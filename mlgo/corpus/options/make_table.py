"""Writes the table of a compiler's options: what cc1, LLVM's own command line and the driver know, with the kinds of
values.

What cc1 and the driver know is in Options.inc, which TableGen makes of clang/include/clang/Options/Options.td; Debian's
libclang-dev has it. Of LLVM's options the help text is ambiguous about the values: `<number>`, `<x>` and `<value>` are
whatever the author wrote. So every option is given a value that no parser of numbers or names accepts, and the parsers'
complaints tell which they are. LLVM reports the complaints of all options at once and ends before it reads any input.

./bazelw run //mlgo/corpus/options:table.update
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mlgo.run.exit_codes import ExitCode, RunError

_ENTRY = re.compile(r"^(?P<macro>(?:[A-Z_]+_)?OPTION(?:_WITH_MARSHALLING)?)\(", re.MULTILINE)
_PREFIX_TABLE = re.compile(r"OptionPrefixesTable\[\] = \{(?P<rows>.*?)\};", re.DOTALL)
_PREFIX_ROW = re.compile(r"^\s*\d+ /\* prefixes \*/(?P<prefixes>.*)$", re.MULTILINE)
_SPELLING = re.compile(r"/\* (.*) \*/")
#: Strings, spellings, which may have a comma (/* -Wl, */), and single characters.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|.', re.DOTALL)

# Places in an entry. SubCommandIDs stands behind them.
_ID, _KIND, _ALIAS, _ALIAS_ARGUMENTS, _VISIBILITY, _COUNT, _VALUES = 2, 3, 5, 6, 8, 9, 13
#: Visibilities of options that clang's driver takes when it is called as `clang` or `clang++`.
_DRIVER = frozenset(("DefaultVis", "ClangOption"))
# An entry with marshalling goes on with: two flags, key path, default, implied (2), normaliser, denormaliser; up to
# LLVM 22 also merger and extractor; index.
_KEY_PATH, _NORMALIZER = 17, 21

# `  --name=<uint>   - help`, deeper for the members of a group, and `    =value   -   help` for each enumerator.
_OPTION_LINE = re.compile(r"^(?P<indent> {2}| {6})--?(?P<name>[A-Za-z0-9_.+-]+)(?P<value>\[?=.*?)?\s+- ")
_ENUMERATOR_LINE = re.compile(r"^    =(?P<value>\S*)\s+- ")

_VERSION = re.compile(r"LLVM version (\d+)\.")

#: No number, no truth value, no enumerator.
_PROBE = "?"
#: The last option of a probe: LLVM's complaint about it shows that it read all options before.
_UNKNOWN = "mlgo-no-such-option"
# These act, or end the compiler at once, when they are read. They are no options of a compile, or take text.
_NOT_PROBED = frozenset(
    "h help help-hidden help-list help-list-hidden load version debug-counter pass-remarks pass-remarks-analysis"
    " pass-remarks-missed pass-remarks-filter opt-bisect sve-tail-folding".split()
)

# What parsers say (llvm/lib/Support/CommandLine.cpp), and the type that the table gives their options.
_COMPLAINTS = (
    (re.compile(r"is invalid value for boolean argument"), "bool"),
    (re.compile(r"value invalid for (uint|ulong|ullong) argument"), "uint"),
    (re.compile(r"value invalid for (integer|long|llong) argument"), "int"),
    (re.compile(r"value invalid for floating point argument"), "double"),
    (re.compile(r"Cannot find option named"), "enum"),
)
_COMPLAINT = re.compile(r"for the --?(?P<name>\S+) option: (?P<why>.*)$", re.MULTILINE)


def read_clang_table(text: str, shown: str) -> dict[str, dict[str, Any]]:
    """What cc1 knows: spelling -> its description.

    A description has: `kind`, how the value follows ("Flag", "Joined", "Separate", "JoinedOrSeparate", ...); `type`
    ("flag", "int", "string", or the list of the values of an enumeration); `sets`, the variable that clang stores the
    value in, where the table says so; `alias`, with the option and the fixed value that the spelling stands for.

    Args: text: of Options.inc; shown: how messages call it. Raises: RunError: this is no such table.
    """
    prefixes, entries = _prefixes(text), _entries(text, "OPTION")
    marshalled = _entries(text, "MARSHALLING")
    table: dict[str, dict[str, Any]] = {}
    for name, arguments in entries.items():
        if "CC1Option" not in arguments[_VISIBILITY].split(" | "):
            continue
        normalizer = marshalled[name][_NORMALIZER] if name in marshalled else ""
        described: dict[str, Any] = {"kind": arguments[_KIND], "type": _clang_type(arguments, normalizer)}
        if name in marshalled:
            described["sets"] = marshalled[name][_KEY_PATH]
        described |= _alias(arguments, entries)
        table.update((spelling, described) for spelling in _spellings(arguments, prefixes))
    if not table:
        raise RunError(shown, "has no option of cc1", "give clang's Options.inc")
    return table


def read_driver_table(text: str) -> dict[str, dict[str, Any]]:
    """What clang's driver knows: spelling -> `kind` and `alias` as `read_clang_table` has them, and `count`, how many
    words follow an option of kind "MultiArg"."""
    prefixes, entries = _prefixes(text), _entries(text, "OPTION")
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


def _alias(arguments: Sequence[str], entries: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    if arguments[_ALIAS] == "INVALID":
        return {}
    fixed = "".join(re.findall(r'"([^"]*)"', arguments[_ALIAS_ARGUMENTS])).split("\\0")
    return {"alias": [_spelling(entries[arguments[_ALIAS]]), *filter(None, fixed)]}


def _clang_type(arguments: Sequence[str], normalizer: str) -> str | list[str]:
    if arguments[_KIND] == "Flag":
        return "flag"
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


def _prefixes(text: str) -> dict[str, list[str]]:
    """The prefixes of options by the word that names a set of them, its place in the table of all sets."""
    found: dict[str, list[str]] = {}
    place, table = 0, _PREFIX_TABLE.search(text)
    for row in _PREFIX_ROW.finditer(table["rows"]) if table else ():
        found[str(place)] = re.findall(r"'([^']*)'", row["prefixes"])
        place += 1 + len(found[str(place)])
    return found


def _entries(text: str, kind: str) -> dict[str, list[str]]:
    """The arguments of each entry of a kind, "OPTION" or "MARSHALLING", by its ID."""
    found = {}
    for start in _ENTRY.finditer(text):
        if (start["macro"] == "OPTION") == (kind == "OPTION"):
            arguments = _arguments(text, start.end())
            if len(arguments) > _VALUES and arguments[_KIND] not in ("Group", "Input", "Unknown"):
                found[arguments[_ID]] = arguments
    return found


def _arguments(text: str, start: int) -> list[str]:
    """The arguments of the macro call whose opening parenthesis ends before `start`."""
    found, depth, begin = [], 0, start
    for token in _TOKEN.finditer(text, start):
        depth += (token[0] in ("(", "{", "[")) - (token[0] in (")", "}", "]"))
        if depth < 0 or (token[0] == "," and depth == 0):
            found.append(text[begin : token.start()].strip())
            begin = token.end()
        if depth < 0:
            break
    return found


def read_major(clang: pathlib.Path) -> int:
    """The major version of a clang. Raises: RunError: this is no clang."""
    found = _VERSION.search(_run(clang, ["-version"]).stdout)
    if found is None:
        raise RunError(f"compiler {clang}", "does not tell its version", "give clang's executable")
    return int(found[1])


def read_llvm_table(clang: pathlib.Path) -> dict[str, str | list[str]]:
    """The type of each option: "flag" (takes no value), "bool", "int", "uint", "double", "string", or the values of an
    enumeration. "string" also stands for lists and for parsers that accept everything.

    Raises: RunError: this is no clang, or it stopped before it had read every option.
    """
    listed = _listed(_run(clang, ["-mllvm", "-help-list-hidden"]).stdout)
    if not listed:
        raise RunError(f"compiler {clang}", "lists no options of LLVM", "give clang's executable")
    probed = [name for name in listed if name not in _NOT_PROBED]
    words = [word for name in [*probed, _UNKNOWN] for word in ("-mllvm", f"-{name}={_PROBE}")]
    said = _run(clang, words).stderr
    if f"-{_UNKNOWN}={_PROBE}" not in said:
        wrong = f"stopped while it read its options: {said[-300:].strip()}"
        raise RunError(f"compiler {clang}", wrong, "add the option to _NOT_PROBED in mlgo/corpus/options/make_table.py")
    found = {complaint["name"]: complaint["why"] for complaint in _COMPLAINT.finditer(said)}
    return {name: _type(*form, found.get(name, "")) for name, form in sorted(listed.items())}


def _listed(text: str) -> dict[str, tuple[bool, list[str]]]:
    """By name: whether the option is one of a group of flags, and its enumerators."""
    listed: dict[str, tuple[bool, list[str]]] = {}
    last: list[str] = []
    for line in text.splitlines():
        if (option := _OPTION_LINE.match(line)) is not None:
            last = listed.setdefault(option["name"], (len(option["indent"]) > 2, []))[1]
        elif (enumerator := _ENUMERATOR_LINE.match(line)) is not None and enumerator["value"] not in last:
            last.append("" if enumerator["value"] == "<empty>" else enumerator["value"])
    return listed


def _type(is_group_member: bool, enumerators: list[str], complaint: str) -> str | list[str]:
    if is_group_member:
        return "flag"
    parser = next((known for pattern, known in _COMPLAINTS if pattern.search(complaint)), "string")
    return enumerators if parser == "enum" else parser


def _run(clang: pathlib.Path, words: Sequence[str]) -> subprocess.CompletedProcess:
    command = [str(clang), "-cc1", *words, "-fsyntax-only", "/dev/null"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunError(f"compiler {clang}", f"cannot be run: {error}", "give clang's executable") from error


def make_table(clang: pathlib.Path, headers: Iterable[pathlib.Path]) -> str:
    """The table as JSON, with one option a line, sorted, so that a new pin of LLVM shows which options changed.

    Raises: RunError: the table of clang's options is in no folder of `headers`, or a table cannot be read."""
    # LLVM 22 moved it.
    places = [folder / "clang" / part / "Options.inc" for folder in headers for part in ("Options", "Driver")]
    if (path := next((place for place in places if place.exists()), None)) is None:
        raise RunError("clang's headers", "have no Options.inc", "give the folder include of the packages")
    text = path.read_text("utf-8")
    tables: dict[str, Mapping[str, Any]] = {
        "cc1": read_clang_table(text, str(path)),
        "driver": read_driver_table(text),
        "llvm": read_llvm_table(clang),
    }
    parts = [f'"major": {read_major(clang)}', *(f'"{name}": {_lines(table)}' for name, table in tables.items())]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _lines(table: Mapping[str, Any]) -> str:
    return "{\n" + ",\n".join(f"{json.dumps(option)}: {json.dumps(table[option])}" for option in sorted(table)) + "\n}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--major", required=True, help="of LLVM")
    parser.add_argument("clang", type=pathlib.Path, help="clang of the packages")
    parser.add_argument("headers", type=pathlib.Path, nargs="+", help="folders of headers")
    flags = parser.parse_args(arguments)
    folder = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", ""), "mlgo", "corpus", "options")
    try:
        (folder / f"llvm{flags.major}.json").write_text(make_table(flags.clang, flags.headers), "utf-8")
    except RunError as error:
        print(f"make_table: {error}", file=sys.stderr)
        return error.exit_code
    return ExitCode.DONE


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
