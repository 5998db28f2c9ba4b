"""Splits a command of clang's driver (`clang -O2 -c a.c -o a.o`) into options with their values, as the driver does;
also says which only name outputs or choose how a build optimises and links, and which files any command names.

Which option takes a value, and whether as a part of its word or as the next one, is in clang's table of options alone.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
from collections.abc import Iterable, Iterator, Sequence

from mlgo.corpus.options import llvm_rules
from mlgo.corpus.options.parsing import GivenOption
from mlgo.corpus.options.table import chosen_table, longest_match

_JOINED = frozenset(("Joined", "CommaJoined", "RemainingArgsJoined"))

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

#: What stands before a name in a word: -fplugin=NAME, -Wl,--version-script=NAME, @NAME.
_BEFORE = re.compile(r"[=,@]")
#: The file that clang reads where -fprofile-use= names a folder (clang/docs/UsersManual.rst).
_OF_FOLDER = "default.profdata"


@dataclasses.dataclass(frozen=True)
class GivenWord:
    """One option, or one input."""

    #: As the command has it.
    words: tuple[str, ...]
    #: The spelling of the option that it stands for: "-o" for `--output=a.o`. "" for an input. A word that the table
    #: does not know is its own name.
    name: str
    #: What it is given; empty also where the command ends too early.
    values: tuple[str, ...] = ()

    @property
    def value(self) -> str | None:
        """The first value; None: there is none."""
        return self.values[0] if self.values else None


def parse_driver(words: Sequence[str]) -> Iterator[GivenWord]:
    """The options and inputs in `words`, a command without its program, in their order."""
    place = 0
    while place < len(words):
        given = _given(words, place)
        place += len(given.words)
        yield given


def output_of(words: Sequence[str], source: str | None) -> str | None:
    """The file that `words` write: the last -o, else with -c clang's default for `source`; None: no object file."""
    output, compiles_only = None, False
    for given in parse_driver(words):
        if given.name == "-o":
            output = given.value
        compiles_only |= given.name == "-c"
    if output is None and compiles_only and source:
        return os.path.splitext(os.path.basename(source))[0] + ".o"
    return output


def _given(words: Sequence[str], place: int) -> GivenWord:
    word = words[place]
    if not word.startswith("-") or word == "-":
        return GivenWord((word,), "")
    spelling = longest_match(word, of_driver=True)
    if spelling is None:
        return GivenWord((word,), word)
    known = chosen_table().driver
    option = known[spelling]
    rest = word.removeprefix(spelling)
    values = [rest] if option.kind in _JOINED or (option.kind != "Flag" and rest) else []
    taken = 1 + _following(option.kind, option.count, bool(rest), len(words) - place - 1)
    values += words[place + 1 : place + taken]
    name = spelling
    while name in known and known[name].alias:
        name, *fixed = known[name].alias
        values = fixed or values
    return GivenWord(tuple(words[place : place + taken]), name, tuple(values))


def _following(kind: str, count: int, has_rest: bool, left: int) -> int:
    """How many words behind its own an option takes, of `left`."""
    if kind == "RemainingArgs":
        return left
    wanted = {"Separate": 1, "JoinedAndSeparate": 1, "JoinedOrSeparate": int(not has_rest), "MultiArg": count}
    return min(wanted.get(kind, 0), left)


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


def named_files(words: Iterable[str], folder: str | os.PathLike[str] | None = None) -> list[pathlib.Path]:
    """The existing regular files that `words` name, each once, in their order.
    Args: folder: what relative names are relative to; None: only absolute names count."""
    found: dict[pathlib.Path, None] = {}
    for word in words:
        if folder is None and "/" not in word:
            continue
        for name in dict.fromkeys([word, *_after(word)]):
            if not name or (folder is None and not name.startswith("/")):
                continue
            path = os.path.join(folder or "/", name)
            for candidate in (path, os.path.join(path, _OF_FOLDER)):
                if os.path.isfile(candidate):
                    found[pathlib.Path(candidate)] = None
    return list(found)


def _after(word: str) -> Iterable[str]:
    """The parts of `word` that may be a name of their own: up to its end, or to the next comma."""
    for match in _BEFORE.finditer(word):
        yield word[match.end() :]
        yield word[match.end() :].partition(",")[0]
    if word.startswith("-") and (begin := word.find("/")) > 0:
        yield word[begin:]
