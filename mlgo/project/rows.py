"""The variants of a build that are measured."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from mlgo.project.compiler import LLD

#: Options of clang in a configuration file come before those of the command line, whose level would win. cc1 takes its
#: last level, and -Xclang comes last. The driver vectorises loops at -O2 and not at -Oz. The objects are those of -Oz.
_SMALLEST = ("-Xclang -Oz", "-fno-vectorize")
_SECTIONS = ("-ffunction-sections", "-fdata-sections")
_POLICY = ("-mllvm -enable-ml-inliner=release",)
_OUTLINER = ("-mllvm -enable-machine-outliner=always",)
#: lld otherwise drops sections that only `__start_NAME` refers to, which GNU ld keeps.
_COLLECT = ("-Wl,--gc-sections", "-Wl,-z,nostart-stop-gc")
#: GNU ld cannot fold.
_FOLD = (*LLD, "-Wl,--icf=safe")
#: The objects hold machine code too, for what reads them without LLVM's plug-in: strip, nm, ld -r, users of an archive.
_THIN = ("-flto=thin", "-ffat-lto-objects")

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
    """A variant.

    Attributes:
      name: as tables have it.
      compile_flags: lines of a configuration file for compiles; None: the build's own objects.
      link_flags: lines for links.
      factor: estimate of the CPU time of its compiles, in units of the build's; they are shared with rows of the same
        flags.
      can_be_chosen: whether mlgo.cfg may become this row.
      is_tuned: compiled with the decisions that a search found before.
    """

    name: str
    compile_flags: tuple[str, ...] | None
    link_flags: tuple[str, ...]
    factor: float
    can_be_chosen: bool = True
    is_tuned: bool = False

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
    return dataclasses.replace(row, link_flags=tuple(flag for flag in row.link_flags if flag not in _FOLD))


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
# Factors measured on Lua's lvm.c (release/search/README.md): 1.3 for 2 allocations, 3.1 for 18.
FASTER_ROWS = (
    Row("callee-saved cost", _CALLEE_SAVED_COST, (), 1.0),
    Row("policy, callee-saved cost (mlgo-speed.cfg)", _SPEED_FLAGS, (), 1.0),
    Row("policy, callee-saved cost, 2 allocations", (*_SPEED_FLAGS, allocations(2)), (), 1.3),
    Row("policy, callee-saved cost, 18 allocations", (*_SPEED_FLAGS, allocations(18)), (), 3.1),
)
