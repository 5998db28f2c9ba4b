"""Refuses to evaluate a corpus without a single decision: every policy would be equal to the default, +0.00 %."""

import contextlib
import itertools
from collections.abc import Sequence

from mlgo.compiler.request import CompileResult
from mlgo.corpus.corpus import Corpus
from mlgo.evaluation.comparison import FunctionRow
from mlgo.trace.no_decisions import no_decisions
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import compile_modules


def check_decisions(corpus: Corpus, setup: CompileSetup, rows: Sequence[FunctionRow], failed: int) -> None:
    """Checks that `corpus` has a decision of the problem.

    A score that a policy changed, or that the compiler logs for a decision, shows one. Where all are equal to the
    default's, the modules are compiled once more, with their decisions logged, up to the first that has one.

    Args:
      rows: what was compared.
      failed: modules that failed on a side.

    Raises: RunError: no module has a decision (NOTHING_PRODUCED); the message names the likely reason.
    """
    changed = any(ratio != 1.0 for row in rows for ratio in row.ratios.values())
    logged = any(row.decisions for row in rows)
    if changed or logged or failed == len(corpus.modules):
        return
    outcomes = compile_modules(corpus.modules, setup, itertools.repeat(None))
    with contextlib.closing(outcomes):
        for _, outcome in outcomes:
            if isinstance(outcome, CompileResult) and outcome.log is not None and outcome.log.observation_count:
                return
    raise no_decisions(corpus, setup.problem)
