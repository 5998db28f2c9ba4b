"""Properties of a function's IR: the output of `opt -passes='print<func-properties>'`.

Source of format and names: llvm/lib/Analysis/FunctionPropertiesAnalysis.cpp (LLVM 22), `FunctionPropertiesInfo::print`.
"""

import pathlib
import re
import subprocess
import tempfile
from collections.abc import Sequence

from mlgo.compiler.process import run_confined
from mlgo.run import signals
from mlgo.run.exit_codes import RunError

_HEADER = re.compile(r"Printing analysis results of CFA for function '(.*)':")
_VALUE = re.compile(r"([A-Za-z]+): (-?\d+)")

#: Options of opt; the detailed properties tell kinds of instructions and operands apart.
_OPTIONS = ("-enable-detailed-function-properties", "-passes=print<func-properties>")
# Ours: SemaDecl, the largest unit of LLVM, takes a second.
_MAX_SECONDS = 600


def parse_properties(printed: str) -> dict[str, dict[str, int]]:
    """function -> property -> value, in order. Raises: RunError: a line is neither a function nor a property."""
    functions: dict[str, dict[str, int]] = {}
    values: dict[str, int] | None = None
    for number, line in enumerate(printed.splitlines(), 1):
        if header := _HEADER.fullmatch(line):
            values = functions.setdefault(header[1], {})
        elif line:
            value = _VALUE.fullmatch(line)
            if value is None or values is None:
                where = f"output of print<func-properties>, line {number}"
                raise RunError(where, f"{line[:80]!r} is no property", "Use opt of LLVM 22")
            values[value[1]] = int(value[2])
    return functions


def properties_of(bitcode: pathlib.Path, opt: pathlib.Path) -> dict[str, dict[str, int]]:
    """The properties of every function that `bitcode` defines. Raises: RunError: opt cannot read it."""
    return _printed(opt, ("-disable-output", bitcode.absolute()), b"", f"bitcode {bitcode}")[0]


def properties_and_text(bitcode: bytes, name: str, opt: pathlib.Path) -> tuple[dict[str, dict[str, int]], str]:
    """The same, and the module as text, of one run of opt. Args: name: the module's, for messages."""
    return _printed(opt, ("-S", "-o", "-", "-"), bitcode, f"optimised bitcode of {name}")


def _printed(
    opt: pathlib.Path, arguments: Sequence[str | pathlib.Path], given: bytes, name: str
) -> tuple[dict[str, dict[str, int]], str]:
    """The properties, and what opt writes to its standard output."""
    remedy = "Give opt of the LLVM that made the bitcode"
    try:
        with tempfile.TemporaryDirectory(prefix="mlgo-properties-") as nothing_is_written:
            done = run_confined([opt, *_OPTIONS, *arguments], nothing_is_written, _MAX_SECONDS, given)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunError(f"opt {opt}", f"does not work on {name}: {error}", remedy) from error
    said = done.stderr.decode("utf-8", "surrogateescape")
    signals.check_not_killed(opt, done.returncode)
    if done.returncode:
        raise RunError(name, f"opt refuses it: {said.strip()[:200]}", remedy)
    return parse_properties(said), done.stdout.decode("utf-8", "surrogateescape")
