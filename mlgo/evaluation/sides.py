"""The sides of a comparison: the compiler's default, and what is compared with it.

A name of a side that this module makes says what the side is: "threshold_15", "policy_callee_saved_by_function_32768".
"""

import dataclasses
import functools
import os
import pathlib
import re
from collections.abc import Collection, Mapping, Sequence

from mlgo.evaluation.statistics import percent_text
from mlgo.identity.programs import compiler_identity, flags_identity
from mlgo.problems.problem import Problem
from mlgo.run import child, locate
from mlgo.run.exit_codes import RunError
from mlgo.run.manifest import digest_of_bytes, digest_of_json

#: The side that the others are compared with.
DEFAULT = "default"
#: Names of a side without a policy and without further options; results of earlier versions have the second.
_PLAIN = (DEFAULT, "packaged")
_THRESHOLD = "threshold_"
_THRESHOLD_VALUE = re.compile(r"-?\d{1,6}")
#: Beginning of the name of a side that tries several allocations.
ALLOCATIONS = "allocations_"
_COST = re.compile(r"(.+)_callee_saved_(by_function_)?([0-9]+)")
_COMPILER = re.compile(r"(?!\.{1,2}=)([A-Za-z0-9_.-]+)=([^,]+)((?:,[^,]+)*)")
_VERSION_SECONDS = 600

_COST_VALUES = "each as a further side of the default and of every policy"
#: Texts of flags that several commands have.
COSTS_HELP = (
    f"Values of -mlgo-callee-saved-cost, {_COST_VALUES}; mlgo-speed.cfg has 32768, a register's save and restore."
)
COSTS_EVERYWHERE_HELP = (
    f"Values of LLVM's -regalloc-csr-first-time-cost, {_COST_VALUES}. This cost holds in all functions."
)
COMPILER_HELP = "Further side, as NAME=PATH[,FLAG...]; repeatable."


@dataclasses.dataclass(frozen=True)
class Side:
    """The policy or heuristic under comparison: a compiler, its flags, and the policy that it asks."""

    name: str
    clang: pathlib.Path
    flags: tuple[str, ...] = ()  #: flags besides those of all sides, such as ("-mllvm", "-inline-threshold=15").
    policy: str = ""  #: problem and digest of the policy whose model a development clang asks; "": none is asked.
    #: flags that name the model's files on this machine, and are not part of the digest.
    model_flags: tuple[str, ...] = ()
    #: the ld.lld of this side's LTO, with the policies of `clang`; None: that of all sides.
    linker: pathlib.Path | None = None
    #: whether its flags are for code generation alone. What the optimiser makes of a unit of a program is then kept for
    #: all such sides of one compiler (mlgo/trace/optimised_corpus.py has why).
    decides_after_optimiser: bool = False

    def digest(self) -> str:
        content = "\0".join(self.flags) + self.policy + "".join(flags_identity(self.flags))
        return digest_of_bytes(_identity(self.clang) + content.encode())

    def compiler_digest(self) -> str:
        """Digest of the compiler, and of the files that its flags name. Raises: RunError: one cannot be read."""
        compiler, named = compiler_identity(self.clang), flags_identity(self.flags)
        return digest_of_json([compiler, *named]) if named else compiler


@functools.cache
def _identity(clang: pathlib.Path) -> bytes:
    # The version is in recorded digests (models/); the path of the clang in it does not count.
    version = child.run([clang, "--version"], pathlib.Path("/"), _VERSION_SECONDS, environment={"PATH": os.defpath})
    kept = b"\n".join(line for line in version.output.splitlines() if not line.startswith(b"InstalledDir"))
    return compiler_identity(clang).encode() + kept


def threshold_sides(values: Sequence[str], problem: Problem, clang: pathlib.Path) -> list[Side]:
    """The heuristic of `problem` at each of `values` of its threshold, in their order.

    Raises: RunError: a value is no whole number, or the heuristic has no threshold.
    """
    option = problem.threshold_option
    if values and option is None:
        raise RunError("--inline_thresholds", f"is not supported for {problem.name}", "Remove it")
    if wrong := [value for value in values if not _THRESHOLD_VALUE.fullmatch(value)]:
        raise RunError(f"--inline_thresholds={','.join(values)}", f"holds {wrong[0]!r}", "Give whole numbers: 10,15,25")
    return [Side(_THRESHOLD + value, clang, ("-mllvm", f"-{option}={value}")) for value in dict.fromkeys(values)]


def threshold_of(side: str) -> str | None:
    """The threshold of the side of this name; None: it is another kind of side."""
    return side.removeprefix(_THRESHOLD) if side.startswith(_THRESHOLD) else None


@dataclasses.dataclass(frozen=True, order=True)
class CalleeSavedCost:
    """What the first use of a callee-saved register costs; next to nothing in LLVM (RegAllocGreedy.cpp,
    CSRFirstTimeCost; docs/adr/0006, "What a callee-saved register costs").
    """

    value: int  #: 16384 is an access to memory at the function's entry.
    #: in all functions, by LLVM's own option; else in those whose call executes little (llvm/callee_saved_cost), as
    #: mlgo-speed.cfg has it.
    everywhere: bool = False

    def flags(self) -> tuple[str, str]:
        option = "-regalloc-csr-first-time-cost" if self.everywhere else "-mlgo-callee-saved-cost"
        return "-mllvm", f"{option}={self.value}"

    def suffix(self) -> str:
        return f"_callee_saved_{'' if self.everywhere else 'by_function_'}{self.value}"


def costs_from_flags(
    by_function: Sequence[str], everywhere: Sequence[str], problem: Problem | None = None
) -> list[CalleeSavedCost]:
    """The costs that --callee_saved_costs and --csr_first_time_costs name, without repetition.

    Raises: RunError: a value is no whole number from 1 to 2^32 - 1, or no register allocator decides `problem`.
    """
    given = (("--callee_saved_costs", by_function, False), ("--csr_first_time_costs", everywhere, True))
    found = set()
    for flag, values, is_everywhere in given:
        if values and problem is not None and not problem.decides_after_optimiser:
            raise RunError(flag, f"is not supported for {problem.name}", "Remove it")
        if wrong := [value for value in values if not value.isdecimal() or not 0 < int(value) < 2**32]:
            remedy = "Give whole numbers of at least 1: 32768"
            raise RunError(f"{flag}={','.join(values)}", f"holds {wrong[0]!r}", remedy)
        found |= {CalleeSavedCost(int(value), is_everywhere) for value in values}
    return sorted(found)


def with_costs(sides: Sequence[Side], costs: Sequence[CalleeSavedCost]) -> list[Side]:
    return [
        dataclasses.replace(side, name=side.name + cost.suffix(), flags=(*side.flags, *cost.flags()))
        for cost in costs
        for side in sides
    ]


def side_and_cost(name: str) -> tuple[str, CalleeSavedCost] | None:
    """The name of a side and the cost that `with_costs` made the name `name` of; None: it did not make it."""
    match = _COST.fullmatch(name)
    return (match[1], CalleeSavedCost(int(match[3]), everywhere=match[2] is None)) if match else None


def compiler_sides(values: Sequence[str], taken: Collection[str]) -> list[Side]:
    """The further compilers that --compiler names, without the names `taken`.

    Raises: RunError: a value is not NAME=PATH[,FLAG...], its name is taken, or there is no such program.
    """
    found: dict[str, Side] = {}
    for value in values:
        if (match := _COMPILER.fullmatch(value)) is None:
            example = "Give a value such as mine=/opt/clang,-mllvm,-inline-threshold=20"
            raise RunError(f"--compiler={value}", "is not NAME=PATH[,FLAG...]", example)
        name = match[1]
        if name in found or is_taken(name, taken):
            raise RunError(f"--compiler={value}", f"has the name {name!r}, which is taken", "Give another name")
        clang = locate.program(match[2], "--compiler", "").resolve()
        found[name] = Side(name, clang, tuple(filter(None, match[3].split(","))))
    return list(found.values())


def is_taken(name: str, taken: Collection[str]) -> bool:
    """Whether `name` is that of the default, one of `taken`, or one that this module gives to a side."""
    made = threshold_of(name) is not None or side_and_cost(name) is not None or name.startswith(ALLOCATIONS)
    return made or name == DEFAULT or name in taken


def is_without_ml(side: str) -> bool:
    """Whether `side` is the heuristic with another threshold, or with a cost of callee-saved registers."""
    of_cost = side_and_cost(side)
    return threshold_of(side) is not None or (of_cost is not None and of_cost[0] in _PLAIN)


def best_without_ml(ratios: Mapping[str, float]) -> str | None:
    """The best side without a policy; "default" where no option is better than it; None: no option was measured.

    Args: ratios: side -> its ratio to the default; sides with a policy do not count.
    """
    best = min(filter(is_without_ml, ratios), key=lambda side: ratios[side], default=None)
    return best if best is None or ratios[best] < 1.0 else DEFAULT


def without_ml_text(ratios: Mapping[str, float]) -> str:
    """The end of a sentence: "; the same without ML: threshold_15 -0.80 %"; "" where no option was measured."""
    if (best := best_without_ml(ratios)) is None:
        return ""
    if best == DEFAULT:
        return "; the same without ML: the default, for no option that was measured is better"
    return f"; the same without ML: {best} {percent_text(ratios[best])}"
