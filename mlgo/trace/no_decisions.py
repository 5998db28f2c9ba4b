"""The error of a corpus without a single decision, with the reason that its commands and functions show."""

from mlgo.corpus.bitcode import function_attributes
from mlgo.corpus.command import NOT_OPTIMISED
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.level import build_advice, levels_of
from mlgo.problems.problem import Problem
from mlgo.run.exit_codes import ExitCode, RunError

#: Options of cc1 that keep the optimiser from inlining, or from running.
_NO_OPTIMISER = ("-disable-llvm-passes", "-fno-inline", "-fno-inline-functions")
# Modules whose functions are looked at, each up to 0.1 s.
_MOST_MODULES = 20


def no_decisions(corpus: Corpus, problem: Problem, subject: str | None = None) -> RunError:
    """The error. Args: subject: what messages call the corpus. Raises: RunError: a file of it cannot be read."""
    why = _reason(corpus, problem)
    remedy = build_advice(problem.levels.advised) if why else "Give a corpus of optimised code with larger functions"
    wrong = f"no function of {len(corpus.modules)} modules has a decision of {problem.name} and a score"
    return RunError(
        subject or f"corpus {corpus.path}", f"{wrong}; {why}" if why else wrong, remedy, ExitCode.NOTHING_PRODUCED
    )


def _reason(corpus: Corpus, problem: Problem) -> str:
    """The likely reason, or "": modules at -O0, functions that must not be optimised, an optimiser that is off."""
    total = len(corpus.modules)
    if count := sum(level == NOT_OPTIMISED for level in levels_of(corpus).values()):
        return f"{count} of {total} modules are at -O0, which does not optimise"
    counted = [function_attributes(module.read_bitcode()) for module in corpus.modules[:_MOST_MODULES]]
    functions, none = (sum(getattr(each, name) for each in counted if each) for name in ("functions", "none"))
    if 2 * none > functions:
        return (
            f"{none} of the first {functions} functions have the attribute optnone, which -O0 sets and which forbids to"
            " optimise them"
        )
    # What decides after the optimiser is compiled from optimised modules, with the optimiser off.
    if not problem.decides_after_optimiser:
        for name in _NO_OPTIMISER:
            having = sum(any(option.name == name for option in m.command.options) for m in corpus.modules)
            if having:
                return f"the commands of {having} of {total} modules have {name}"
    return ""
