"""Which modules of a corpus a command compiles: those that its flags name and that its problem is for.

Decisions of modules at other levels are missing (-O0), or their scores mean something else (inlining for size at -O2).
A few of them, such as one file that its project builds differently, are left out; more mean that the build was wrong.
"""

import collections
import contextlib
import math
import re
from collections.abc import Callable, Iterator, Sequence

from mlgo.corpus import properties
from mlgo.corpus.command import CommandError
from mlgo.corpus.command_check import check_commands
from mlgo.corpus.corpus import Corpus, CorpusError
from mlgo.corpus.level import build_advice, commands_are_recorded, levels_of
from mlgo.corpus.properties import Property
from mlgo.problems.problem import Problem
from mlgo.run import determinism
from mlgo.run.exit_codes import ExitCode, RunError

# Modules whose bitcode is read, 10 to 50 ms each, where clang recorded the commands: these tell it but for a module
# that was compiled from bitcode which another command had optimised.
_MOST_READ = 4000

#: One module in so many may be at a wrong level and is left out. Projects that build single files at a level of their
#: own stay below it; the files of a program built at the wrong level do not.
LEFT_OUT_ONE_IN = 10
_SHOWN = 3


def usable(problem: Problem, corpus: Corpus, tell: Callable[[str], None]) -> Corpus:
    """`fitting_modules`; `tell` is also called with what makes results of these incomparable.
    Raises: CorpusError: also for commands with options that are refused."""
    check_commands(corpus)
    corpus = fitting_modules(problem, corpus, tell)
    tell_properties(corpus, tell)
    return corpus


def fitting_modules(problem: Problem, corpus: Corpus, tell: Callable[[str], None]) -> Corpus:
    """`corpus` without the modules that `problem` is not for: those at other levels and, for problems that decide
    within the optimiser, those in which no call is left to decide. `tell` is called with their names.

    Raises: CorpusError: no module is left, too many are at another level, or a file cannot be read.
    """
    if not problem.decides_after_optimiser:
        corpus = _with_calls(problem, corpus, tell)
    return at_levels_of(problem, corpus, tell)


def tell_properties(corpus: Corpus, tell: Callable[[str], None]) -> None:
    """Calls `tell` with what makes results of modules of `corpus` incomparable, a line for each property.
    Raises: CorpusError: a command cannot be read."""
    found = _chosen(corpus, False, lambda kind: kind.changes_results and not kind.hides_calls)
    for line in properties.lines(found, len(corpus.modules)):
        tell(f"note on {corpus.path}: {line}")


def _with_calls(problem: Problem, corpus: Corpus, tell: Callable[[str], None]) -> Corpus:
    of_bitcode = corpus.command_override is not None or len(corpus.modules) <= _MOST_READ
    found = _chosen(corpus, of_bitcode, lambda kind: kind.hides_calls)
    if not found:
        return corpus
    lines = properties.lines(found, len(corpus.modules))
    if len(found) == len(corpus.modules):
        wrong = f"has no module for {problem.name}: {'; '.join(lines)}"
        remedy = build_advice(problem.levels.advised)
        raise CorpusError(f"corpus {corpus.path}", wrong, remedy, ExitCode.NOTHING_PRODUCED)
    for line in lines:
        tell(f"left out of {corpus.path}: {line}")
    return corpus.select([module.name for module in corpus.modules if module.name not in found])


@contextlib.contextmanager
def _of_corpus(corpus: Corpus) -> Iterator[None]:
    """Lets what a command lacks be told of the corpus."""
    try:
        yield
    except CommandError as error:
        raise CorpusError(f"{error.subject}, in {corpus.path}", error.wrong, error.remedy) from error


def _chosen(corpus: Corpus, of_bitcode: bool, choose: Callable[[Property], bool]) -> dict[str, dict[Property, str]]:
    """The chosen properties, without modules that have none of them."""
    with _of_corpus(corpus):
        found = properties.of_corpus(corpus, of_bitcode)
    chosen = {name: {kind: said for kind, said in kinds.items() if choose(kind)} for name, kinds in found.items()}
    return {name: kinds for name, kinds in chosen.items() if kinds}


def at_levels_of(problem: Problem, corpus: Corpus, tell: Callable[[str], None]) -> Corpus:
    """`corpus`, without the few modules at a level that `problem` is not for; `tell` is called with their names.
    Raises: CorpusError: more than one module in LEFT_OUT_ONE_IN is at such a level, or a file cannot be read."""
    with _of_corpus(corpus):
        found = levels_of(corpus)
    wrong = {name: level for name, level in found.items() if level not in problem.levels.accepted}
    if not wrong:
        return corpus
    counts = collections.Counter(wrong.values()).most_common()
    counted = " and ".join(f"{count} of {len(found)} modules at -{level}" for level, count in counts)
    source = "" if commands_are_recorded(corpus) else ", as the attributes of their functions say"
    first = ", ".join([*list(wrong)[:_SHOWN], *(["..."] if len(wrong) > _SHOWN else [])])
    described = f"{counted}{source} ({first})"
    needs = f"{problem.name} needs {problem.levels.described()}, {problem.levels.reason}"
    if len(wrong) * LEFT_OUT_ONE_IN > len(found):
        advice = build_advice(problem.levels.advised)
        raise CorpusError(f"corpus {corpus.path}", f"has {described}, and {needs}", advice)
    tell(f"left out of {corpus.path}: {described}; {needs}")
    return corpus.select([module.name for module in corpus.modules if module.name not in wrong])


def chosen_modules(names: Sequence[str], module_filter: str | None, sampling_rate: float, seed: int) -> list[str]:
    """Of the names in which the filter is found, the given part, rounded up, in their order.
    Raises: RunError: the filter is no regular expression, or nothing is left."""
    try:
        matching = [name for name in names if module_filter is None or re.search(module_filter, name)]
    except re.error as error:
        wrong = f"is no regular expression: {error}"
        raise RunError(f"--module_filter={module_filter}", wrong, "Correct it") from error
    count = math.ceil(sampling_rate * len(matching))
    if not count:
        subject = f"--module_filter={module_filter} --sampling_rate={sampling_rate}"
        raise RunError(subject, f"leave none of {len(names)} modules", "Widen them", ExitCode.NOTHING_PRODUCED)
    order = determinism.generator(seed, "sampled modules").permutation(len(matching))
    return [matching[index] for index in sorted(order[:count].tolist())]
