"""Which options of the driver, and of what it passes on, only name outputs or choose how a build optimises and links.

Names are those of the table (mlgo/corpus/options/driver.py): `-o` for `--output=a.o`, `-fembed-bitcode=` for
`-fembed-bitcode`.
"""

from __future__ import annotations

import re

from mlgo.corpus.options import llvm_rules
from mlgo.corpus.options.driver import GivenWord
from mlgo.corpus.options.parsing import GivenOption

#: clang's levels: -O2, -Os, -Ofast, --optimize=3; not -ObjC.
LEVELS = frozenset(("-O", "-O0", "-O4", "-Ofast"))

# A file beside the object, or where it goes.
_OUTPUTS = re.compile(
    r"""
      -o | -c | -M[DFGJMPQTV]* | -dependency-(file|dot) | --?serialize-diagnostics | -gen-cdb-fragment-path | -dumpdir
    | -save-temps= | --?save-stats=? | -f(no-)?save-optimization-record=? | -foptimization-record-.* | -ftime-trace.*
    | -fproc-stat-report=? | -f(no-)?stack-usage | -fcrash-diagnostics-dir= | -fmodule-output=? | -index-.*
    """,
    re.VERBOSE,
)
# Debug information, LTO and embedded bitcode: code without them is the code that is compared.
_OF_THE_BUILD = re.compile(
    r"""
      -g.* | -flto.* | -fno-lto | -f(no-)?(fat-lto-objects|split-lto-unit|unified-lto|whole-program-vtables)
    | -fthin-link-bitcode= | -fembed-bitcode=
    # Only allowed with -flto.
    | -f(no-)?virtual-function-elimination | -f(no-)?sanitize-cfi-.*
    """,
    re.VERBOSE,
)
# The same in the words of cc1, for -Xclang.
_OF_CC1 = re.compile(
    r"""
      -o | -O.* | -M.* | -dependency-(file|dot) | -serialize-diagnostic-file | -stats-file= | -opt-record-.*
    | -stack-usage-file | -split-dwarf-(file|output) | -ftime-trace.* | -debug-info-kind= | -flto.* | -fembed-bitcode=?
    | -fthin-link-bitcode= | -save-temps=
    """,
    re.VERBOSE,
)


def is_level(given: GivenWord) -> bool:
    """Whether the driver's option is an optimisation level."""
    return given.name in LEVELS


def belongs_to_build(given: GivenWord) -> bool:
    """Whether the driver's option is a level, names an output, or asks for LTO, embedded bitcode or debug
    information."""
    return is_level(given) or names_output(given) or bool(_OF_THE_BUILD.fullmatch(given.name))


def names_output(given: GivenWord) -> bool:
    """Whether the driver's option names a file that the command writes, asks for one, or is -c."""
    if given.name == "-Wp,":  # For the preprocessor, which compilers before clang gave dependency files this way.
        return given.words[0].startswith("-Wp,-M")
    return bool(_OUTPUTS.fullmatch(given.name))


def without_lto(given: GivenWord) -> tuple[str, ...]:
    """The words of the driver's option without sanitizers that are only allowed with -flto."""
    if given.name != "-fsanitize=":
        return given.words
    kept = [value for value in (given.value or "").split(",") if not value.startswith("cfi")]
    return (f"{given.name}{','.join(kept)}",) if kept else ()


def is_passed_on_for_build(option: GivenOption) -> bool:
    """Whether an option behind -Xclang or -mllvm is of the kind of `belongs_to_build`, or puts a policy, a search or
    decisions in the place of the compiler's heuristic."""
    if (name := option.llvm) is None:
        return option.clang is not None and _OF_CC1.fullmatch(option.name) is not None
    return name == llvm_rules.EMBEDDING or name in llvm_rules.DECIDING
