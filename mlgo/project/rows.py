"""The variants of a build that are measured, in order of promise."""

from __future__ import annotations

import dataclasses

#: Options of clang in a configuration file come before those of the command line, whose level would win. cc1 takes its
#: last level, and -Xclang comes last. The driver vectorises loops at -O2 and not at -Oz. The objects are those of -Oz.
_SMALLEST = ("-Xclang -Oz", "-fno-vectorize")
_SECTIONS = ("-ffunction-sections", "-fdata-sections")
_POLICY = ("-mllvm -enable-ml-inliner=release",)
_SEARCH = ("-mllvm -mlgo-search=2",)
#: lld otherwise drops sections that only `__start_NAME` refers to, which GNU ld keeps.
_COLLECT = ("-fuse-ld=lld", "-Wl,--gc-sections", "-Wl,-z,nostart-stop-gc")
_FOLD = ("-Wl,--icf=safe",)
_THIN = ("-flto=thin", "-fuse-ld=lld")


@dataclasses.dataclass(frozen=True)
class Row:
    """A variant.

    Attributes:
      name: for people.
      compile_flags: lines of a configuration file for compiles; None: the build's own objects.
      link_flags: lines for links.
      factor: estimate of the CPU time of its compiles, in units of the build's.
      can_be_chosen: whether mlgo.cfg may become this row. Objects of LTO are not for every build.
    """

    name: str
    compile_flags: tuple[str, ...] | None
    link_flags: tuple[str, ...]
    factor: float
    can_be_chosen: bool = True

    @property
    def config(self) -> tuple[str, ...]:
        """The lines of a file for --config= in compiles and links."""
        return (*(self.compile_flags or ()), *(flag for flag in self.link_flags if flag not in (self.compile_flags or ())))


_POLICY_FLAGS = (*_SMALLEST, *_SECTIONS, *_POLICY)
_SEARCH_FLAGS = (*_POLICY_FLAGS, *_SEARCH)
_COLLECT_AND_FOLD = (*_COLLECT, *_FOLD)

AS_BUILT = Row("as built", None, (), 0.0)
ROWS = (
    Row("unused sections dropped, equal code folded", None, _COLLECT_AND_FOLD, 0.0),
    Row("-Oz, policy", _POLICY_FLAGS, (), 1.0),
    Row("-Oz, policy, and the linker's", _POLICY_FLAGS, _COLLECT_AND_FOLD, 0.0),
    Row("-Oz, policy, search", _SEARCH_FLAGS, (), 2.0),
    Row("-Oz, policy, search, and the linker's", _SEARCH_FLAGS, _COLLECT_AND_FOLD, 0.0),
    Row("-Oz", (*_SMALLEST, *_SECTIONS), (), 0.9),
    Row("-Oz, policy, ThinLTO, and the linker's", (*_POLICY_FLAGS, *_THIN), (*_POLICY, *_THIN, *_COLLECT_AND_FOLD), 1.2, False),
)
