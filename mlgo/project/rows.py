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
_THIN = ("-flto=thin",)


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
        return tuple(dict.fromkeys((*(self.compile_flags or ()), *self.link_flags)))


_SIZE_FLAGS = (*_SMALLEST, *_SECTIONS)
_POLICY_FLAGS = (*_SIZE_FLAGS, *_POLICY)
_THIN_FLAGS = (*_POLICY_FLAGS, *_THIN)
_SEARCH_FLAGS = (*_POLICY_FLAGS, *_SEARCH)
_COLLECT_AND_FOLD = (*_COLLECT, *_FOLD)

AS_BUILT = Row("as built", None, (), 0.0)
# Factors measured on bzip2, libmagic and re2: 0.7 to 1.0 for one compile, 1.9 to 2.6 for the search.
ROWS = (
    Row("linker: unused dropped, equal folded", None, _COLLECT_AND_FOLD, 0.0),
    Row("-Oz, policy", _POLICY_FLAGS, (), 0.9),
    Row("-Oz, policy, linker", _POLICY_FLAGS, _COLLECT_AND_FOLD, 0.0),
    Row("-Oz, policy, search", _SEARCH_FLAGS, (), 2.1),
    Row("-Oz, policy, search, linker", _SEARCH_FLAGS, _COLLECT_AND_FOLD, 0.0),
    Row("-Oz", _SIZE_FLAGS, (), 0.9),
    Row("-Oz, linker", _SIZE_FLAGS, _COLLECT_AND_FOLD, 0.0),
    Row("-Oz, policy, ThinLTO, linker", _THIN_FLAGS, (*_POLICY, *_THIN, *_COLLECT_AND_FOLD), 1.2, can_be_chosen=False),
)
