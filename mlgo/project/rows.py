"""The variants of a build that are measured."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence

from mlgo.project.command_line import last_level
from mlgo.project.compiler import LLD

#: Options of clang in a configuration file come before those of the command line, whose level would win. cc1 takes its
#: last level, and -Xclang comes last. The driver vectorises loops at -O2 and not at -Oz. The objects are those of -Oz.
_SMALLEST = ("-Xclang -Oz", "-fno-vectorize")
_FASTEST = ("-Xclang -O3",)
_FASTEST_LEVELS = ("3", "4", "fast")
#: Options with which a build makes or uses a profile of its own.
_OWN_PROFILE = ("-fprofile-", "-fcs-profile-", "-fauto-profile", "-fcoverage-", "-fpseudo-probe", "--coverage")
_SECTIONS = ("-ffunction-sections", "-fdata-sections")
_POLICY = ("-mllvm -enable-ml-inliner=release",)
_OUTLINER = ("-mllvm -enable-machine-outliner=always",)
#: lld otherwise drops sections that only `__start_NAME` refers to, which GNU ld keeps.
_COLLECT = ("-Wl,--gc-sections", "-Wl,-z,nostart-stop-gc")
#: Words that name a linker script; what has no KEEP in it is dropped by --gc-sections, such as a table of interrupts.
_SCRIPT = re.compile(r"(-Wl,|-Wl,.*,)?(-T(?!text|data|bss|rodata|ldata)|--script)")
#: GNU ld cannot fold.
_FOLD = (*LLD, "-Wl,--icf=safe")
#: The objects hold machine code too, for what reads them without LLVM's plug-in: strip, nm, ld -r, users of an archive.
_THIN = ("-flto=thin", "-ffat-lto-objects")
#: Static functions are named with their file but without its folder, so that the profile fits where another machine
#: builds. Threads count correctly.
_PROFILE_NAMES = ("-mllvm -static-func-full-module-prefix=false",)
_INSTRUMENTED = ("-fprofile-generate", "-fprofile-update=atomic", *_PROFILE_NAMES)
#: Code that was edited after the runs has no profile.
_PROFILED = (*_PROFILE_NAMES, "-Wno-backend-plugin", "-Wno-profile-instr-unprofiled", "-Wno-profile-instr-out-of-date")

_EVICTION_POLICY = ("-mllvm -regalloc-enable-advisor=release",)
_CALLEE_SAVED_COST = ("-mllvm -mlgo-callee-saved-cost=32768",)


def search(compiles: int) -> str:
    """The option with which clang tries so many compiles with other inlining decisions."""
    return f"-mllvm -mlgo-search={compiles}"


def allocations(tries: int) -> str:
    """The option with which clang allocates the registers of each function so often."""
    return f"-mllvm -mlgo-allocations={tries}"


@dataclasses.dataclass(frozen=True)
class Row:
    """A variant."""

    name: str  #: as tables have it.
    compile_flags: tuple[str, ...] | None  #: lines of a configuration file for compiles; None: the build's objects.
    link_flags: tuple[str, ...]  #: lines for links.
    #: Estimate of the CPU time of its compiles, in times of the build's; they are shared with rows of the same flags.
    factor: float
    can_be_chosen: bool = True  #: whether mlgo.cfg may become this row.
    is_tuned: bool = False  #: compiled with the decisions that a search found before.
    is_profiled: bool = False  #: compiled with a profile of runs.

    @property
    def config(self) -> tuple[str, ...]:
        """The lines of a file for --config= in compiles and links."""
        return tuple(dict.fromkeys((*(self.compile_flags or ()), *self.link_flags)))


def makes_code(words: Iterable[str]) -> bool:
    """Whether a link with these words makes code of the objects of -flto."""
    return any(word.startswith("-flto") for word in words)


def with_own_linker(row: Row) -> Row | None:
    """The row without what lld alone can do, for links that lld refuses; None: that is another row or needs lld."""
    needs_lld = row.compile_flags is None or set(_THIN) <= set(row.link_flags)
    if needs_lld or not set(_FOLD) <= set(row.link_flags):
        return None
    # gold refuses what lld needs.
    of_lld = {*_FOLD, _COLLECT[1]}
    return dataclasses.replace(row, link_flags=tuple(flag for flag in row.link_flags if flag not in of_lld))


def why_no_link_flags(tool: str, words: Sequence[str]) -> str:
    """Why a link by `tool` with these words cannot have the flags of a row; "": it can."""
    if tool == "ld":
        return "ld makes the link, and not the compiler, which reads mlgo.cfg"
    if any(map(_SCRIPT.match, words)) and not any("--gc-sections" in word for word in words):
        return "the linker script of the build need not keep what --gc-sections drops"
    return ""


_SIZE_FLAGS = (*_SMALLEST, *_SECTIONS)
#: What the search for decisions starts from.
POLICY_FLAGS = (*_SIZE_FLAGS, *_POLICY)
_THIN_FLAGS = (*POLICY_FLAGS, *_THIN)
_COLLECT_AND_FOLD = (*_COLLECT, *_FOLD)

AS_BUILT = Row("as built", None, (), 0.0)
#: Of a build that was not recorded: its objects may be another compiler's.
SAME_OPTIONS = Row("mlgo's clang, the same options", (), (), 1.0, can_be_chosen=False)

# In the order of their price. Factors measured on bzip2, libmagic and re2: 0.7 to 1.0 for one compile, 1.9 to 2.6 for
# the search. The policy's row comes before -Oz alone, which costs the same, because decisions are searched from it.
SMALLER_ROWS = (
    Row("linker: unused dropped", None, _COLLECT, 0.0),
    Row("linker: unused dropped, equal folded", None, _COLLECT_AND_FOLD, 0.0),
    Row("-Oz, policy", POLICY_FLAGS, (), 0.9),
    Row("-Oz, policy, linker", POLICY_FLAGS, _COLLECT_AND_FOLD, 0.9),
    Row("-Oz", _SIZE_FLAGS, (), 0.9),
    Row("-Oz, linker", _SIZE_FLAGS, _COLLECT_AND_FOLD, 0.9),
    Row("-Oz, tuned decisions", POLICY_FLAGS, (), 0.0, is_tuned=True),
    Row("-Oz, tuned decisions, linker", POLICY_FLAGS, _COLLECT_AND_FOLD, 0.0, is_tuned=True),
    Row("-Oz, policy, outliner, linker", (*POLICY_FLAGS, *_OUTLINER), _COLLECT_AND_FOLD, 0.9),
    Row("-Oz, policy, ThinLTO, linker", _THIN_FLAGS, (*_POLICY, *_THIN, *_COLLECT_AND_FOLD), 1.2),
    Row("-Oz, policy, search", (*POLICY_FLAGS, search(2)), (), 2.1),
    Row("-Oz, policy, search, linker", (*POLICY_FLAGS, search(2)), _COLLECT_AND_FOLD, 2.1),
)

_SPEED_FLAGS = (*_EVICTION_POLICY, *_CALLEE_SAVED_COST)
#: Of mlgo-speed.cfg, for a build that has its own profile.
_WITH_PROFILE = "-mllvm -mlgo-allocations-with-profile=18"
_POLICY_ROW = Row("policy, callee-saved cost (mlgo-speed.cfg)", (*_SPEED_FLAGS, _WITH_PROFILE), (), 1.0)
_COST_ROW = Row("callee-saved cost", _CALLEE_SAVED_COST, (), 1.0)
# Factors measured on Lua's lvm.c (release/search/README.md): 1.3 for 2 allocations, 3.1 for 18.
_ALLOCATION_ROWS = (
    Row("policy, callee-saved cost, 2 allocations", (*_SPEED_FLAGS, allocations(2)), (), 1.3),
    Row("policy, callee-saved cost, 18 allocations", (*_SPEED_FLAGS, allocations(18)), (), 3.1),
)
#: What a profile is made with.
INSTRUMENTED = Row("instrumented", _INSTRUMENTED, _INSTRUMENTED, 1.1)
_PROFILED_ALLOCATIONS = (*_PROFILED, *_CALLEE_SAVED_COST, allocations(18))
_PROFILED_POLICY = (*_PROFILED, *_SPEED_FLAGS, allocations(18))
# What gains most for its price comes first; a profile takes the compile of the instrumented program too. With a profile
# only its hot functions are allocated several times: 1.2 to 1.7 times the compile of bzip2, gzip and lz4.
FASTER_ROWS = (
    _POLICY_ROW,
    Row("profile", _PROFILED, (), 1.0, is_profiled=True),
    Row("profile, ThinLTO", (*_PROFILED, *_THIN), (*_THIN, *LLD), 1.2, is_profiled=True),
    Row("-O3", _FASTEST, (), 1.1),
    Row("profile, callee-saved cost, 18 allocations", _PROFILED_ALLOCATIONS, (), 1.5, is_profiled=True),
    Row("ThinLTO", _THIN, (*_THIN, *LLD), 1.2),
    Row("profile, policy, callee-saved cost, 18 allocations", _PROFILED_POLICY, (), 1.5, is_profiled=True),
    _COST_ROW,
    *_ALLOCATION_ROWS,
)
#: Of an estimate, which has no runs for a profile and sees no link.
ESTIMATED_ROWS = (_COST_ROW, _POLICY_ROW, *_ALLOCATION_ROWS)


def faster_rows(units: Iterable[Sequence[str]], link: Iterable[str]) -> list[Row]:
    """The rows that may change a build. Args: units, link: the words of its compiles and of its link."""
    words = [list(one) for one in units]
    has_profile = any(word.startswith(_OWN_PROFILE) for one in words for word in one)
    is_fastest = all(last_level(one) in _FASTEST_LEVELS for one in words)
    makes_all = makes_code(link)
    return [
        row
        for row in FASTER_ROWS
        if not (row.is_profiled and has_profile)
        and not (row.compile_flags == _FASTEST and is_fastest)
        and not (makes_all and set(_THIN) <= set(row.link_flags))
    ]
