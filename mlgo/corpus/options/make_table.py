"""Writes the table of a compiler's options: what cc1, LLVM's own command line and the driver know, with the kinds of
values.

Of LLVM's options the help text is ambiguous about the values: `<number>`, `<x>` and `<value>` are whatever the author
wrote. So every option is given a value that no parser of numbers or names accepts, and the parsers' complaints tell
which they are. LLVM reports the complaints of all options at once and then ends, before it reads any input.

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

from mlgo.corpus.options.clang_table import read_clang_table, read_driver_table
from mlgo.run.exit_codes import ExitCode, RunError

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
    found = {complaint["name"]: _type_of(complaint["why"]) for complaint in _COMPLAINT.finditer(said)}
    return {name: _type(form, found.get(name, "string")) for name, form in sorted(listed.items())}


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


def _type_of(why: str) -> str:
    return next((known for pattern, known in _COMPLAINTS if pattern.search(why)), "string")


def _type(form: tuple[bool, list[str]], parser: str) -> str | list[str]:
    is_group_member, enumerators = form
    if is_group_member:
        return "flag"
    return enumerators if parser == "enum" else parser


def _run(clang: pathlib.Path, words: Sequence[str]) -> subprocess.CompletedProcess:
    command = [str(clang), "-cc1", *words, "-fsyntax-only", "/dev/null"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunError(f"compiler {clang}", f"cannot be run: {error}", "give clang's executable") from error


def make_table(clang: pathlib.Path, headers: Iterable[pathlib.Path]) -> str:
    """The table as JSON, with one option a line, sorted, so that a new pin of LLVM shows which options changed.

    Args: headers: folders, one of which has clang's headers.

    Raises: RunError: the table of clang's options is not in the headers, or a table cannot be read.
    """
    path = _options_inc(headers)
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


def _options_inc(headers: Iterable[pathlib.Path]) -> pathlib.Path:
    # LLVM 22 moved it.
    places = [folder / "clang" / part / "Options.inc" for folder in headers for part in ("Options", "Driver")]
    if (found := next((place for place in places if place.exists()), None)) is None:
        raise RunError("clang's headers", "have no Options.inc", "give the folder include of the packages")
    return found


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
