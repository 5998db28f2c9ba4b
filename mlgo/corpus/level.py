"""The optimisation level of a module: how its bitcode was made, and at which level it is compiled from the corpus.

Levels are named as clang's options are, without dash: O0, O1, O2, O3, Os, Oz.
"""

import collections

from mlgo.corpus.bitcode import function_attributes
from mlgo.corpus.command import NOT_OPTIMISED, CompileCommand
from mlgo.corpus.corpus import Corpus, Module
from mlgo.corpus.description import UNSPECIFIED_OVERRIDE

_EMBED = "-Xclang -fembed-bitcode=all"


def level_of_module(module: Module, command: CompileCommand, recorded: bool) -> str:
    """The level of a module that is compiled with `command`.

    A command that clang recorded with the bitcode tells all. Another compile's does not tell how the bitcode was made:
    that of a ThinLTO back end, whose levels are 0 to 3 even in a link of code that was compiled at -Oz, or one command
    for all modules of a corpus. The attributes of the functions then tell it.

    Args: recorded: whether clang recorded the command with the bitcode.
    Raises: CommandError: the command lacks an argument; CorpusError: the bitcode cannot be read.
    """
    level = command.level
    if recorded or level == NOT_OPTIMISED:
        return level
    found = function_attributes(module.read_bitcode())
    if found is None or not found.functions:
        return level
    for asked, count in ((NOT_OPTIMISED, found.none), ("Oz", found.min_size), ("Os", found.for_size)):
        if 2 * count > found.functions:  # Most functions count.
            return asked
    return "O2" if level in ("Os", "Oz") else level


def commands_are_recorded(corpus: Corpus) -> bool:
    """Whether clang recorded the commands of `corpus` with the bitcode: see `level_of_module`."""
    return corpus.command_override is None and not corpus.has_thinlto


def levels_of(corpus: Corpus) -> dict[str, str]:
    """Module -> its level, in the order of the corpus. Raises: as `level_of_module`."""
    recorded = commands_are_recorded(corpus)
    return {module.name: level_of_module(module, module.command, recorded) for module in corpus.modules}


def notes(corpus: Corpus) -> list[str]:
    """What whoever makes `corpus` should know about its levels: how many modules are at which, and about -O0.
    Raises: CommandError, CorpusError: a command cannot be read."""
    if corpus.command_override == UNSPECIFIED_OVERRIDE:
        return []
    levels = {module.name: module.command.level for module in corpus.modules}
    counts = collections.Counter(levels.values()).most_common()
    lines = []
    if not corpus.has_thinlto:  # There the level of the link is not that of the code.
        lines.append(f"optimisation levels: {', '.join(f'{count:,} modules at -{level}' for level, count in counts)}")
    if wrong := [name for name, level in levels.items() if level == NOT_OPTIMISED]:
        lines.append(
            f"note: {len(wrong)} of {len(levels)} modules are compiled at -O0, such as {wrong[0]}; no policy"
            " decides anything there. docs/corpora.md says how to build at another level"
        )
    return lines


def cmake_flags(level: str) -> str:
    """Flags of `cmake`. The level replaces that of the build type, which CMake would put behind CMAKE_C_FLAGS."""
    return (
        "-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Release"
        f" -DCMAKE_C_FLAGS_RELEASE='-{level} -DNDEBUG' -DCMAKE_CXX_FLAGS_RELEASE='-{level} -DNDEBUG'"
        f" -DCMAKE_C_FLAGS='{_EMBED}' -DCMAKE_CXX_FLAGS='{_EMBED}'"
    )


def build_advice(level: str) -> str:
    """What to do when a corpus is at another level, in several lines."""
    return (
        f"Build with clang at -{level} and extract the corpus again (docs/corpora.md):\n"
        f"  CMake:     cmake {cmake_flags(level)}\n"
        f"  autotools: ./configure CC=clang CXX=clang++ CFLAGS='-{level} {_EMBED}' CXXFLAGS='-{level} {_EMBED}'\n"
        f'  Bazel:     level = "{level}" of mlgo_corpus'
    )
