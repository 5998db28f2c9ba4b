"""Searches of many modules that run side by side, so that the workers are busy while one search waits."""

import contextlib
import itertools
import pathlib
from collections.abc import Callable, Iterable, Iterator, Sequence

from mlgo.compiler.request import CompileFailure, CompileResult
from mlgo.corpus.corpus import Module
from mlgo.search.build import Attempt, Build
from mlgo.search.decision_file import written
from mlgo.search.module_search import Found, ModuleCannotBeCompiled, Search
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import compile_modules

#: Searches under way for each worker: while one waits for a single compile, the others keep the workers busy.
_SEARCHES_PER_WORKER = 8

#: What came of a compile as the search sees it; None: it cannot use it.
BuildOf = Callable[[Module, Attempt, CompileResult | CompileFailure], Build | None]


def side_by_side(
    searches: Iterable[tuple[Module, Search]], setup: CompileSetup, model_dir: pathlib.Path | None, build_of: BuildOf
) -> Iterator[tuple[Module, Found | None]]:
    """Runs `searches`, each of one module; yields what each found, in the order in which they end.

    Neither the number of workers nor the other searches change what a search finds. None: the module cannot be
    compiled.
    """
    waiting = iter(searches)
    running: list[_Running] = []
    while True:
        missing = _SEARCHES_PER_WORKER * setup.workers - len(running)
        running += [_Running(module, search) for module, search in itertools.islice(waiting, missing)]
        if not running:
            return
        asked = [(each.module, attempt) for each in running for attempt in each.attempts]
        builds = iter(_compiled(asked, setup, model_dir, build_of))
        for each in running:
            each.advance(list(itertools.islice(builds, len(each.attempts))))
        yield from ((each.module, each.found) for each in running if each.has_ended)
        running = [each for each in running if not each.has_ended]


def _compiled(
    asked: Sequence[tuple[Module, Attempt]], setup: CompileSetup, model_dir: pathlib.Path | None, build_of: BuildOf
) -> list[Build | None]:
    outcomes = compile_modules(
        [module for module, _ in asked],
        setup,
        # Also for attempts that do not use it: compiles of one module then share more.
        itertools.repeat(model_dir),
        given=(written([attempt.section()]) for _, attempt in asked),
    )
    with contextlib.closing(outcomes):
        return [build_of(*each, outcome) for each, (_, outcome) in zip(asked, outcomes, strict=True)]


class _Running:
    """A search under way: `attempts` is what it waits for, `found` its result (None: the module cannot be compiled)."""

    def __init__(self, module: Module, search: Search):
        self.module, self._search = module, search
        self.attempts: Sequence[Attempt] = next(search)
        self.has_ended = False
        self.found: Found | None = None

    def advance(self, builds: Sequence[Build | None]) -> None:
        try:
            self.attempts = self._search.send(builds)
        except StopIteration as end:
            self.has_ended, self.found = True, end.value
        except ModuleCannotBeCompiled:
            self.has_ended = True
