"""What sets a module apart from ordinary code of a build: optimised bitcode, sanitizers, instrumentation, a policy.

Scores of such modules mean something else, or nothing. Whoever makes a corpus is told, and whoever loads one.
"""

import dataclasses
import functools
import re
from collections.abc import Mapping, Sequence

from mlgo.corpus.bitcode import is_optimised
from mlgo.corpus.command import CompileCommand
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.description import UNSPECIFIED_OVERRIDE
from mlgo.corpus.options import llvm_rules
from mlgo.corpus.options.parsing import GivenOption
from mlgo.run.printable import printable

_SHOWN, _LONGEST = 3, 60


@dataclasses.dataclass(frozen=True)
class Property:
    """One kind of difference."""

    #: In reports.
    name: str
    #: Completes "3 of 10 modules ": what the modules are, and what follows for results.
    means: str
    #: Whether no call is decided any more as in the build, so that problems of inlining leave the module out.
    hides_calls: bool = False
    #: Whether notes show the option that says so.
    shows_option: bool = True
    #: Whether results differ from those of modules without it.
    changes_results: bool = True


OPTIMISED = Property(
    "optimised",
    "hold bitcode that the optimiser has run on, so that calls are inlined already; problems of inlining leave them"
    " out. Build with -Xclang -fembed-bitcode=all, not the driver's -fembed-bitcode; .bc files with -Xclang"
    " -disable-llvm-passes",
    hides_calls=True,
    shows_option=False,
)
NOT_INLINED = Property(
    "not_inlined", "are compiled with inlining off; problems of inlining leave them out", hides_calls=True
)
POLICY = Property(
    "policy",
    "were built with a policy, a search or given decisions; the corpus compiles them without, so its objects are not"
    " those of the build",
)
HEURISTIC = Property(
    "heuristic",
    "change the compiler's heuristic; results compare policies with the changed heuristic, not with clang's default",
)
SANITIZED = Property("sanitized", "are built with sanitizers; results are of sanitized code, not of what is shipped")
INSTRUMENTED = Property(
    "instrumented",
    "are instrumented for coverage, profiles or tracing; results are of instrumented code, not of what is shipped",
)
PROFILE = Property("profile", "are compiled with a profile; results hold with this profile")
LTO = Property("lto", "were compiled for LTO; the corpus compiles each of them alone, without what the link inlines")
OUTLINER = Property(
    "outliner",
    "are compiled with outlining switched on or off; results hold with it. What the machine outliner moves counts for"
    " the functions it comes from, what the IR outliner moves for another symbol",
)
DEBUG = Property(
    "debug_info",
    "have debug information; code is the same without, bitcode and objects are smaller",
    changes_results=False,
)
OTHER_OBJECTS = Property(
    "other_objects",
    "are for targets without ELF objects (Mach-O, COFF and others); no score of code size, evaluation or search reads"
    " such objects. Compile for Linux",
)

#: All, in the order of reports.
PROPERTIES = (
    OPTIMISED,
    NOT_INLINED,
    OTHER_OBJECTS,
    SANITIZED,
    INSTRUMENTED,
    POLICY,
    HEURISTIC,
    PROFILE,
    LTO,
    OUTLINER,
    DEBUG,
)

#: Options of cc1 by their names in the table.
_CLANG = {
    OPTIMISED: r"-disable-llvm-(passes|optzns)",
    NOT_INLINED: r"-fno-inline(-functions)?",
    SANITIZED: r"-fsanitize=|-fexperimental-sanitize-metadata=.*",
    INSTRUMENTED: r"-fprofile-instrument=|-fcoverage-mapping|-coverage-(notes|data)-file=|-fsanitize-coverage-type="
    r"|-pg|-mfentry|-f(xray-instrument|instrument-functions.*|instrument-function-entry-bare|memory-profile=?)"
    r"|-fpatchable-function-entry=",
    PROFILE: r"-fprofile-(instrument-use-path|sample-use)=|-fmemory-profile-use=",
    LTO: r"-flto=?",
    DEBUG: r"-debug-info-kind=",
    HEURISTIC: r"-finline-(hint-functions|max-stacksize=)",
}
#: Options of LLVM by their names without dashes. What only concerns assembly, sanitizers or library calls is not here.
_HEURISTIC = re.compile(
    r"inline-(?!asm|remark).* | inline(cold|default|hint)-threshold | ml-(advisor|inliner)-.* | enable-module-inliner"
    r"| (disable|enable)-(preinline|partial-inlining) | preinline-threshold | sample-profile-inline-.*"
    r"| cgscc-inline-replay.* | regalloc.* | mandatory-inlining-first | recursive-inline-max-stacksize",
    re.VERBOSE,
)
_OUTLINER = re.compile(r"enable-machine-outliner|(enable-linkonceodr|machine|ir)-?(ir-)?outlin(er|ing).*|outliner-.*")
_NOT_ELF = re.compile(
    r"""
      -(darwin|macos|ios|tvos|watchos|xros|driverkit|windows|win32|cygwin|mingw|uefi|aix|zos)
    | \A(wasm|spirv|dxil|nvptx) | -(macho|coff)\Z
    """,
    re.IGNORECASE | re.VERBOSE,
)


def of_command(command: CompileCommand) -> dict[Property, str]:
    """The properties that a cc1 command shows -> the option that says so.
    Raises: CommandError: the last option lacks its argument."""
    found: dict[Property, str] = {}
    for option in command.options:
        if (kind := _of_option(option)) is not None:
            found.setdefault(kind, _shown(option))
    return found


def of_module(command: CompileCommand, bitcode: bytes, is_thinlto: bool) -> dict[Property, str]:
    """As `of_command`, with what the bitcode shows. Modules of ThinLTO (`is_thinlto`) are optimised as they should
    be."""
    found = of_command(command)
    if is_thinlto:
        found.pop(LTO, None)
    elif is_optimised(bitcode):
        found[OPTIMISED] = ""
    elif OPTIMISED in found:
        found.setdefault(NOT_INLINED, found.pop(OPTIMISED))
    return found


def of_corpus(corpus: Corpus, of_bitcode: bool = True) -> dict[str, dict[Property, str]]:
    """Module -> its properties, in the order of the corpus, without modules that have none.

    Args: of_bitcode: whether bitcode is read; a corpus may have gigabytes of it.
    Raises: CommandError, CorpusError: a command or bitcode cannot be read.
    """
    if corpus.command_override == UNSPECIFIED_OVERRIDE:
        return {}
    found = {
        module.name: of_module(module.command, module.read_bitcode(), module.has_thinlto_index)
        if of_bitcode
        else of_command(module.command)
        for module in corpus.modules
    }
    return {name: properties for name, properties in found.items() if properties}


def lines(found: Mapping[str, Mapping[Property, str]], total: int) -> list[str]:
    """ "3 of 10 modules ..." for each property that modules have. Args: total: modules of the corpus."""
    result = []
    for kind, modules in by_property(found).items():
        options = sorted({found[name][kind] for name in modules}) if kind.shows_option else []
        shown = f"{_first(options)}: {_first(modules)}" if options else _first(modules)
        result.append(f"{len(modules):,} of {total:,} modules {kind.means} ({shown})")
    return result


def by_property(found: Mapping[str, Mapping[Property, str]]) -> dict[Property, list[str]]:
    """Property -> names of the modules that have it, sorted; in the order of PROPERTIES."""
    return {kind: names for kind in PROPERTIES if (names := sorted(name for name in found if kind in found[name]))}


def _first(words: Sequence[str]) -> str:
    return ", ".join([*map(printable, words[:_SHOWN]), *(["..."] if len(words) > _SHOWN else [])])


@functools.lru_cache(maxsize=1 << 16)
def _of_option(option: GivenOption) -> Property | None:
    if (name := option.llvm) is not None:
        if name in llvm_rules.DECIDING:
            return POLICY
        if _HEURISTIC.fullmatch(name):
            return HEURISTIC
        return OUTLINER if _OUTLINER.fullmatch(name) else None
    if option.name == "-triple":
        return OTHER_OBJECTS if _NOT_ELF.search(option.value or "") else None
    if option.value in ("none", "unused-types"):
        return None
    return next((kind for kind, expression in _CLANG.items() if re.fullmatch(expression, option.name)), None)


def _shown(option: GivenOption) -> str:
    """The option as notes show it, without paths, and not all of a long list."""
    if option.llvm is not None:
        said = " ".join(option.words)
    else:
        said = option.name if "/" in (option.value or "") else option.words[0]
    return said if len(said) <= _LONGEST else said[:_LONGEST] + "..."
