"""Finds, before the first compile, the modules of a corpus whose optimisation level is not one of a problem's.

Decisions of such modules are missing (-O0), or their scores mean something else (inlining for size at -O2). A few of
them, such as one file that its project builds differently, are left out; more than that means that the build was wrong.
"""

import collections
import dataclasses
from collections.abc import Callable, Mapping

from mlgo.corpus.building import build_advice
from mlgo.corpus.command import CommandError
from mlgo.corpus.corpus import Corpus, CorpusError
from mlgo.corpus.level import commands_are_recorded, levels_of
from mlgo.problems.problem import Problem

#: One module in so many may be at a wrong level and is left out. Projects that build single files at a level of their
#: own stay below it; the files of a program built at the wrong level do not.
LEFT_OUT_ONE_IN = 10
_SHOWN = 3


@dataclasses.dataclass(frozen=True)
class WrongLevels:
    """The modules at a wrong level.

    Attributes:
      modules: name -> its level; at least one.
      total: modules of the corpus.
      read_from_functions: whether levels are those of the functions' attributes, not of the modules' commands.
    """

    modules: Mapping[str, str]
    total: int
    read_from_functions: bool

    def described(self) -> str:
        """For a message: "64 of 64 modules at -O0 (a.c, b.c, c.c, ...)"."""
        levels = collections.Counter(self.modules.values())
        counts = " and ".join(f"{count} of {self.total} modules at -{level}" for level, count in levels.most_common())
        first = [*list(self.modules)[:_SHOWN], *(["..."] if len(self.modules) > _SHOWN else [])]
        source = ", as the attributes of their functions say" if self.read_from_functions else ""
        return f"{counts}{source} ({', '.join(first)})"


def wrong_levels(corpus: Corpus, problem: Problem) -> WrongLevels | None:
    """The modules of `corpus` at levels that `problem` is not for; None: there are none.

    Raises: CorpusError: a command or bitcode cannot be read.
    """
    try:
        found = levels_of(corpus)
    except CommandError as error:
        raise CorpusError(f"{error.subject}, in {corpus.path}", error.wrong, error.remedy) from error
    wrong = {name: level for name, level in found.items() if level not in problem.levels.accepted}
    return WrongLevels(wrong, len(found), not commands_are_recorded(corpus)) if wrong else None


def at_levels_of(problem: Problem, corpus: Corpus, tell: Callable[[str], None]) -> Corpus:
    """`corpus`, without the few modules at a level that `problem` is not for; `tell` is called with their names.

    Raises: CorpusError: more than one module in LEFT_OUT_ONE_IN is at such a level, or a file cannot be read.
    """
    if (wrong := wrong_levels(corpus, problem)) is None:
        return corpus
    needs = f"{problem.name} needs {problem.levels.described()}, {problem.levels.reason}"
    if len(wrong.modules) * LEFT_OUT_ONE_IN > wrong.total:
        advice = build_advice(problem.levels.advised)
        raise CorpusError(f"corpus {corpus.path}", f"has {wrong.described()}, and {needs}", advice)
    tell(f"left out of {corpus.path}: {wrong.described()}; {needs}")
    return corpus.select([module.name for module in corpus.modules if module.name not in wrong.modules])
