"""What LLVM says of a function's IR: the output of `opt -passes='print<func-properties>'`.

Source of format and names: llvm/lib/Analysis/FunctionPropertiesAnalysis.cpp (LLVM 22), `FunctionPropertiesInfo::print`.
"""

import pathlib
import re
import subprocess

from mlgo.run.exit_codes import RunError

_HEADER = re.compile(r"Printing analysis results of CFA for function '(.*)':")
_VALUE = re.compile(r"([A-Za-z]+): (-?\d+)")

#: Options of opt; the detailed properties tell kinds of instructions and operands apart.
_OPTIONS = ("-disable-output", "-enable-detailed-function-properties", "-passes=print<func-properties>")
# Ours: SemaDecl, the largest unit of LLVM, takes a second.
_MAX_SECONDS = 600


def parse_properties(printed: str) -> dict[str, dict[str, int]]:
    """function -> property -> value, in the order printed.

    Raises: RunError: a line is neither a function nor a property.
    """
    functions: dict[str, dict[str, int]] = {}
    values: dict[str, int] | None = None
    for number, line in enumerate(printed.splitlines(), 1):
        if header := _HEADER.fullmatch(line):
            values = functions.setdefault(header[1], {})
        elif line:
            value = _VALUE.fullmatch(line)
            if value is None or values is None:
                raise RunError(
                    f"output of print<func-properties>, line {number}", f"{line[:80]!r} is no property", "Use opt of LLVM 22"
                )
            values[value[1]] = int(value[2])
    return functions


def properties_of(bitcode: pathlib.Path, opt: pathlib.Path) -> dict[str, dict[str, int]]:
    """The properties of every function that `bitcode` defines.

    Raises: RunError: opt cannot read it.
    """
    try:
        done = subprocess.run(
            [opt, *_OPTIONS, bitcode], stdin=subprocess.DEVNULL, capture_output=True, timeout=_MAX_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunError(f"opt {opt}", f"does not work on {bitcode}: {error}", "Give opt of the LLVM that made the bitcode") from error
    said = done.stderr.decode("utf-8", "surrogateescape")
    if done.returncode:
        raise RunError(f"bitcode {bitcode}", f"opt refuses it: {said.strip()[:200]}", "Give opt of the LLVM that made the bitcode")
    return parse_properties(said)
