"""Finds, before the first compile, the modules of a corpus that a problem is not for, and leaves them out."""

from collections.abc import Callable, Mapping

from mlgo.corpus import properties
from mlgo.corpus.building import build_advice
from mlgo.corpus.command import CommandError
from mlgo.corpus.corpus import Corpus, CorpusError
from mlgo.corpus.level_check import at_levels_of
from mlgo.corpus.properties import Property
from mlgo.problems.problem import Problem
from mlgo.run.exit_codes import ExitCode

# Modules whose bitcode is read, 10 to 50 ms each, where clang recorded the commands: these tell it but for a module
# that was compiled from bitcode which another command had optimised.
_MOST_READ = 4000


def fitting_modules(problem: Problem, corpus: Corpus, tell: Callable[[str], None]) -> Corpus:
    """`corpus` without the modules that `problem` is not for; `tell` is called with their names.

    These are modules at other levels and, for problems that decide within the optimiser, those in which no call is left
    to decide.

    Raises: CorpusError: no module is left, too many are at another level (mlgo/corpus/level_check.py), or a file cannot
      be read.
    """
    if not problem.decides_after_optimiser:
        corpus = _with_calls(problem, corpus, tell)
    return at_levels_of(problem, corpus, tell)


def tell_properties(corpus: Corpus, tell: Callable[[str], None]) -> None:
    """Calls `tell` with what makes results of modules of `corpus` incomparable, a line for each property.

    Raises: CorpusError: a command cannot be read.
    """
    found = _chosen(_properties(corpus, of_bitcode=False), lambda kind: kind.changes_results and not kind.hides_calls)
    for line in properties.lines(found, len(corpus.modules)):
        tell(f"note on {corpus.path}: {line}")


def _with_calls(problem: Problem, corpus: Corpus, tell: Callable[[str], None]) -> Corpus:
    of_bitcode = corpus.command_override is not None or len(corpus.modules) <= _MOST_READ
    found = _chosen(_properties(corpus, of_bitcode), lambda kind: kind.hides_calls)
    if not found:
        return corpus
    lines = properties.lines(found, len(corpus.modules))
    if len(found) == len(corpus.modules):
        raise CorpusError(
            f"corpus {corpus.path}",
            f"has no module for {problem.name}: {'; '.join(lines)}",
            build_advice(problem.levels.advised),
            exit_code=ExitCode.NOTHING_PRODUCED,
        )
    for line in lines:
        tell(f"left out of {corpus.path}: {line}")
    return corpus.select([module.name for module in corpus.modules if module.name not in found])


def _properties(corpus: Corpus, of_bitcode: bool) -> Mapping[str, Mapping[Property, str]]:
    try:
        return properties.of_corpus(corpus, of_bitcode)
    except CommandError as error:
        raise CorpusError(f"{error.subject}, in {corpus.path}", error.wrong, error.remedy) from error


def _chosen(
    found: Mapping[str, Mapping[Property, str]], choose: Callable[[Property], bool]
) -> dict[str, dict[Property, str]]:
    """The chosen properties, without modules that have none of them."""
    chosen = {name: {kind: said for kind, said in kinds.items() if choose(kind)} for name, kinds in found.items()}
    return {name: kinds for name, kinds in chosen.items() if kinds}
