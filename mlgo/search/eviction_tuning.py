"""Searches eviction decisions for a corpus and writes the results: what //mlgo:tune does for register allocation."""

import pathlib
from collections.abc import Mapping
from typing import Any

from mlgo.corpus.corpus import Corpus, Module
from mlgo.identity.code import SEARCHES, digest_of_code
from mlgo.run import progress
from mlgo.run.cache import Cache
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.run_folder import RunFolder
from mlgo.search.budget import Budget
from mlgo.search.eviction_results import EvictionResults
from mlgo.search.eviction_search import EvictionSearch, with_unique_source
from mlgo.trace.setup import CompileSetup

#: The default, the policy, and the compile itself, in both compiles of a module.
_OTHER_COMPILES = 6


def tune_evictions(
    corpus: Corpus,
    folder: RunFolder,
    setup: CompileSetup,
    model_dir: pathlib.Path | None,
    budget: Budget,
    seed: int,
    described: Mapping[str, Any],
    cache: Cache | None = None,
) -> list[str]:
    """Searches `corpus`, writes into `folder`, and returns the lines of the summary; skips modules that were searched.

    Args:
      budget: tries of each function, on average, take the place of compiles: a try of all functions of a module is
        counted as one.
      described: JSON values that decide the result besides `corpus` and `budget`; they stand in result.json.
        "callee_saved_cost": see EvictionSearch; absent: LLVM's own.

    Raises: RunError: too many modules fail, or nothing is decided.
    """
    tries = budget.compiles_of(corpus.modules, _OTHER_COMPILES)
    identity = {**described, "code": digest_of_code(SEARCHES)}
    search = EvictionSearch(setup, model_dir, tries, seed, identity, cache, described.get("callee_saved_cost"))
    shown = progress.start("search", 2 * len(corpus.modules), "compiles")

    def done(_: Module) -> None:
        shown.advance()

    found, failures = search.run(folder.path / "search", corpus.modules, done)
    shown.close()
    if cache is not None:
        cache.trim()
    if len(failures) > setup.max_failure_ratio * len(corpus.modules):
        name, why = min(failures.items())
        raise RunError(
            f"corpus of {len(corpus.modules)} modules",
            f"has {len(failures)} that fail to compile (first: {name}: {why})",
            "Remove them, or raise --max_failure_ratio",
            ExitCode.TOO_MANY_FAILURES,
        )
    kept = with_unique_source(found)
    left_out = {**failures, **{name: "another module has this source" for name in found if name not in kept}}
    if not any(each.functions for each in kept.values()):
        wrong, remedy = "has no eviction to decide about", "Give a corpus that is compiled at -O2"
        raise RunError("--corpus", wrong, remedy, ExitCode.NOTHING_PRODUCED)
    description = {**described, "corpus": corpus.digest, "tries_limit": budget.compiles, "budget": budget.cpu_seconds}
    return EvictionResults(kept, setup, left_out, description, seed).write(folder.path)
