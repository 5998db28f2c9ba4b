"""Asks a clang for the options of LLVM that it has (-mllvm), and for the parser of each.

The help text names the options. It is ambiguous about the values: `<number>`, `<x>` and `<value>` are whatever the
author wrote. So every option is given a value that no parser of numbers or names accepts, and the parsers' complaints
tell which they are. LLVM reports the complaints of all options at once and then ends, before it reads any input.
"""

import pathlib
import re
import subprocess
from collections.abc import Sequence

from mlgo.run.exit_codes import RunError

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
        raise RunError(f"compiler {clang}", wrong, "add the option to _NOT_PROBED in mlgo/corpus/options/llvm_table.py")
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
