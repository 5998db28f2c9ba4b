"""Estimates what a program executes, from what each compile wrote with -mlgo-executed-cost-file (llvm/executed_cost).

The compiler knows what a call of a function executes, and how often a function is called only where the build uses a
profile. Without one, each function counts as called once.
"""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Mapping
from typing import NamedTuple

from mlgo.corpus.elf import ElfError, ElfFile
from mlgo.project.compiling import Compiled
from mlgo.project.size import code_bytes
from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import read_regular

#: What to do where there is no estimate.
REMEDY = "Count what a run executes: --run='./program input'"
#: What is estimated.
COUNTED = ("instructions", "data references")
_HEAD = ["mlgo-executed-cost 1", "function\tscope\tcalls\tinstructions\tmemory references\tcallee-saved registers"]
# Products of these are finite.
_MOST_COST, _MOST_CALLS = 1e100, 1 << 64
_SCOPES = ("local", "global")
#: The prologue saves a register and the epilogue restores it: so many instructions, and as many references.
_SAVE_AND_RESTORE = 2
#: (object, name) of a local function; ("", name) of one that other objects may have too.
_Key = tuple[str, str]


class FunctionCost(NamedTuple):
    """What a call of a function executes."""

    name: str
    is_local: bool  #: other objects may have another function of this name.
    calls: int | None  #: how often the build's profile says that it was called; None: it does not say.
    instructions: float  #: at least 0, as `references`.
    references: float


def read_costs(text: str) -> list[FunctionCost]:
    """The functions in a file of costs. Raises: ValueError: it is damaged; the message is a predicate."""
    lines = text.splitlines()
    if lines[: len(_HEAD)] != _HEAD:
        raise ValueError("does not begin as a file of executed costs")
    return [_function(line) for line in lines[len(_HEAD) :]]


def _function(line: str) -> FunctionCost:
    try:
        name, scope, calls, *parts = line.split("\t")
        instructions, references, saved = map(float, parts)
        found = FunctionCost(
            urllib.parse.unquote(name, errors="surrogateescape"),
            _SCOPES.index(scope) == 0,
            int(calls) if calls else None,
            instructions + _SAVE_AND_RESTORE * saved,
            references + _SAVE_AND_RESTORE * saved,
        )
    except ValueError as error:
        raise ValueError(f"has a line that is no function: {line[:100]!r}") from error
    if not (0 <= found.instructions < _MOST_COST and 0 <= found.references < _MOST_COST):
        raise ValueError(f"has a cost that is no number of at least 0: {line[:100]!r}")
    if not 0 <= (found.calls or 0) < _MOST_CALLS:
        raise ValueError(f"has a number of calls that no profile can have: {line[:100]!r}")
    return found


class Estimate:
    """Estimates of builds of one program, all with the functions of the first.

    Args: program: as it was built. Global functions that it has no symbol of do not count, where it has symbols.
    """

    def __init__(self, program: str):
        self._symbols = _symbols(program)
        # How often each function counts.
        self._calls: dict[_Key, int] = {}
        self._profiled = self._omitted = 0
        self._largest = ("", 0.0)

    def caveat(self) -> str:
        """What a reader must know first, once there are figures."""
        how = "static frequencies"
        if self._profiled:
            how = f"the build's profile, which knows {self._profiled:,} of {len(self._calls):,} functions"
        return (
            f"This is an estimate by {how}, and not a measurement. To measure what a run executes: "
            "mlgo faster --run='./program input'"
        )

    def notes(self) -> list[str]:
        """What the figures rest on, and what does not count, once there are figures."""
        name, share = self._largest
        found = [f"{name} has {100 * share:.0f} % of what the program is estimated to execute"] if share else []
        if self._omitted:
            found.append(f"{self._omitted:,} functions of the objects are not in the program, and do not count")
        return found

    def figures_of(self, objects: Mapping[str, Compiled]) -> dict[str, int]:
        """Sums over all functions, by calls, and the bytes of code in the objects.

        Args: objects: output of the build -> its compile with costs, in the order of the link.
        Raises: RunError: a compile wrote no costs, or they are of other functions than in the first build.
        """
        functions = self._functions(objects)
        if not self._calls:
            # Without any profile, one call of each; with one, a function that it does not know was not called.
            self._profiled = sum(one.calls is not None for one in functions.values())
            self._calls = {key: (one.calls or 0) if self._profiled else 1 for key, one in functions.items()}
            self._largest = self._largest_of(functions)
        if functions.keys() != self._calls.keys():
            names = sorted(name for _, name in functions.keys() ^ self._calls.keys())
            raise RunError("the estimate", f"has other functions than the build: {names[0]}", REMEDY)
        instructions = sum(self._calls[key] * one.instructions for key, one in functions.items())
        references = sum(self._calls[key] * one.references for key, one in functions.items())
        code = sum(code_bytes(one.object) or 0 for one in objects.values() if one.object is not None)
        return {**dict(zip(COUNTED, (round(instructions), round(references)))), "code": code}

    def _functions(self, objects: Mapping[str, Compiled]) -> dict[_Key, FunctionCost]:
        found: dict[_Key, FunctionCost] = {}
        omitted = 0
        for output, compiled in objects.items():
            for one in _costs_of(output, compiled):
                if one.is_local:
                    found[output, one.name] = one
                elif self._symbols is None or one.name in self._symbols:
                    # Of functions that several objects have, the link takes the first.
                    found.setdefault(("", one.name), one)
                else:
                    omitted += 1
        if not found:
            raise RunError("the estimate", "found no function of the program", REMEDY)
        self._omitted = omitted
        return found

    def _largest_of(self, functions: Mapping[_Key, FunctionCost]) -> tuple[str, float]:
        """The function that executes most, and its share."""
        costs = {key: self._calls[key] * (one.instructions + one.references) for key, one in functions.items()}
        key, most = max(costs.items(), key=lambda item: item[1])
        return key[1], most / sum(costs.values()) if most else 0.0


def _costs_of(output: str, compiled: Compiled) -> list[FunctionCost]:
    name = os.path.basename(output)
    if compiled.costs is None:
        raise RunError(name, compiled.reason or "has no executed cost", REMEDY)
    try:
        return read_costs(compiled.costs.read_text("ascii"))
    except (OSError, ValueError) as error:
        raise RunError(str(compiled.costs), f"(of {name}) {error}", "Remove the folder mlgo/.cache/units") from error


def _symbols(program: str) -> set[str] | None:
    """Names that a program defines; None: it has no symbol table."""
    try:
        return ElfFile.of_bytes(read_regular(program)).defined_names() or None
    except (OSError, ElfError):
        return None
