"""Searches the modules of a corpus, several side by side.

Files in the stage's folder, for each module NAME: `NAME.decisions` (a decision file of one section), then `NAME.json`
(ModuleResult). A module that has the second is done.
"""

import collections
import contextlib
import dataclasses
import itertools
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from mlgo.compiler.request import CompileFailure, CompileResult
from mlgo.corpus.bitcode import source_name
from mlgo.corpus.corpus import Module
from mlgo.run import files
from mlgo.run.cache import Cache
from mlgo.run.json_fields import Fields
from mlgo.score.code_credit import ByteCounter
from mlgo.score.folded_code import with_folds
from mlgo.score.problem_score import score_of
from mlgo.search.decision_file import POLICY, Section, written
from mlgo.search.module_search import Found, ModuleCannotBeCompiled, Search, refine_module, search_module
from mlgo.search.moves import Build, build_of, packed
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import compile_modules

#: Kinds of files of a module.
_DECISIONS, _RESULT = "decisions", "json"
#: Content of the result of a module that could not be compiled.
_NOTHING_FOUND = {"best": None}
_REMEDY = "Delete the folder and run again"
#: Changes that were not tried, of which a result names so many.
_NEXT_TRIES = 3

#: Searches under way for each worker: while one waits for a single compile, the others keep the workers busy.
_SEARCHES_PER_WORKER = 8

#: What came of a compile as the search sees it; None: it cannot use it.
BuildOf = Callable[[Module, Section, CompileResult | CompileFailure], Build | None]


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
        outcomes = compile_modules(
            [module for module, _ in asked],
            setup,
            # Also for attempts that do not use it: compiles of one module then share more.
            itertools.repeat(model_dir),
            given=(written([attempt]) for _, attempt in asked),
        )
        with contextlib.closing(outcomes):
            builds = iter([build_of(*each, outcome) for each, (_, outcome) in zip(asked, outcomes, strict=True)])
        for each in running:
            each.advance(list(itertools.islice(builds, len(each.attempts))))
        yield from ((each.module, each.found) for each in running if each.has_ended)
        running = [each for each in running if not each.has_ended]


class _Running:
    """A search under way: `attempts` is what it waits for, `found` its result (None: the module cannot be compiled)."""

    def __init__(self, module: Module, search: Search):
        self.module, self._search = module, search
        self.attempts: Sequence[Section] = next(search)
        self.has_ended = False
        self.found: Found | None = None

    def advance(self, builds: Sequence[Build | None]) -> None:
        try:
            self.attempts = self._search.send(builds)
        except StopIteration as end:
            self.has_ended, self.found = True, end.value
        except ModuleCannotBeCompiled:
            self.has_ended = True


@dataclasses.dataclass(frozen=True)
class ModuleResult:
    """What the search of a module found. All sizes are bytes that count (mlgo/score/code_size.py)."""

    #: default, policy, best: sizes under the compiler's heuristic, under the policy (None: there is none, or its
    #: compile failed), and with the decisions that were found. A refinement's default is what it begins with.
    default: float
    policy: float | None
    best: float
    questions: int  #: decisions that the heuristic takes.
    compiles: int  #: made by the search.
    tried: int  #: changes that it tried; one compile tries many.
    complete: bool  #: whether it ended because nothing was left to try.
    curve: tuple[tuple[int, float], ...]  #: (compiles, size) after each improvement.
    untried: int  #: changes that a search with more compiles would try next.
    untried_compiles: int
    next_tries: tuple[str, ...]

    @property
    def start(self) -> float:
        return self.default if self.policy is None else min(self.default, self.policy)

    def continued(self, refinement: "ModuleResult") -> "ModuleResult":
        """This search and its refinement, whose bytes count otherwise: sizes and curve stay those of the search."""
        return dataclasses.replace(
            self,
            compiles=self.compiles + refinement.compiles,
            tried=self.tried + refinement.tried,
            complete=refinement.complete,
            untried=refinement.untried,
            untried_compiles=refinement.untried_compiles,
            next_tries=refinement.next_tries,
        )


@dataclasses.dataclass(frozen=True)
class CorpusSearch:
    """How the modules of a corpus are searched."""

    setup: CompileSetup
    model_dir: pathlib.Path | None  #: TFLite model of the policy; None: there is none.
    counting: ByteCounter  #: which bytes count.
    compiles: Mapping[str, int]
    cache: Cache | None  #: of results, shared by runs; None: there is none.
    key_of: Callable[[Module], str]  #: the key of a module's result there: a digest of all that it depends on.
    folds: bool = False  #: whether `counting` needs fold identities.
    #: what the search of a module begins with; None: with the heuristic and the policy.
    start_of: Callable[[Module], Section] | None = None

    def has(self, folder: pathlib.Path, module: Module) -> bool:
        return _path(folder, module.name, _RESULT).exists()

    def run(self, folder: pathlib.Path, modules: Sequence[Module], done: Callable[[Module], None]) -> None:
        """Searches those of `modules` that have no result in `folder`. Args: done: called after each."""
        left = [module for module in modules if not (self.has(folder, module) or self._fetched(folder, module, done))]
        # The largest first: at the end no single one is waited for.
        left.sort(key=lambda module: (-module.bitcode_size, module.name))
        searches = ((module, self._search_of(module)) for module in left)
        for module, found in side_by_side(searches, self.setup, self.model_dir, self._build):
            _write(folder, module, found)
            if self.cache is not None and found is not None:
                names = (_RESULT, _DECISIONS)
                self.cache.store(
                    self.key_of(module), {name: _path(folder, module.name, name).read_bytes() for name in names}
                )
            done(module)
        if self.cache is not None:
            self.cache.trim()

    def _fetched(self, folder: pathlib.Path, module: Module, done: Callable[[Module], None]) -> bool:
        """Takes the module's result from the cache, if it is there."""
        found = None if self.cache is None else self.cache.fetch(self.key_of(module))
        if found is None or not {_RESULT, _DECISIONS} <= found.keys():
            return False
        for name in (_DECISIONS, _RESULT):
            files.write_atomically(_path(folder, module.name, name), found[name])
        done(module)
        return True

    def _search_of(self, module: Module) -> Search:
        compiles = self.compiles[module.name]
        if self.start_of is not None:
            return refine_module(compiles, self.start_of(module))
        return search_module(compiles, self.model_dir is not None)

    def _build(self, module: Module, attempt: Section, outcome: CompileResult | CompileFailure) -> Build | None:
        if isinstance(outcome, CompileFailure) or outcome.log is None:
            return None
        scores = score_of(self.setup.problem).read(outcome)
        if self.folds:
            scores = with_folds(scores, outcome.object_bytes, module.name)
        return build_of(attempt, outcome.log, self.counting(module.name, scores))


def results_in(folder: pathlib.Path, modules: Iterable[Module]) -> dict[str, ModuleResult]:
    """Module → what its search found, if it could be compiled. Raises: RunError: a file is missing or damaged."""
    found = {}
    for module in modules:
        path = _path(folder, module.name, _RESULT)
        content = files.read_json(path, "search of a module", _REMEDY)
        if content != _NOTHING_FOUND:
            found[module.name] = _parsed(content, path)
    return found


def section_in(folder: pathlib.Path, name: str) -> bytes:
    """The decision file of module `name`, which stands for any source."""
    return _path(folder, name, _DECISIONS).read_bytes()


def sources_of(modules: Iterable[Module]) -> dict[str, str | None]:
    """Module → its source file as its bitcode names it; None: not stated, or another module has the same."""
    named = {module.name: source_name(module.read_bitcode()) for module in modules}
    seen = collections.Counter(named.values())
    return {name: source if seen[source] == 1 else None for name, source in named.items()}


def _write(folder: pathlib.Path, module: Module, found: Found | None) -> None:
    if found is None:
        files.write_json_atomically(_path(folder, module.name, _RESULT), _NOTHING_FOUND)
        return
    section = found.best.attempt
    if section.decisions:  # Else a whole policy decides. All of them: its answers depend on what was inlined before.
        section = dataclasses.replace(section, decisions=found.best.all_given)
    files.write_atomically(_path(folder, module.name, _DECISIONS), written([section]))
    first, policy = next(iter(found.start.values())), found.start.get(POLICY)
    result = ModuleResult(
        default=first.total,
        policy=None if policy is None else policy.total,
        best=found.best.total,
        questions=len(first.decided),
        compiles=found.compiles,
        tried=found.tried,
        complete=found.complete,
        curve=found.curve,
        untried=len(found.untried),
        untried_compiles=len(packed(found.untried)),
        next_tries=tuple(move.described for move in found.untried[:_NEXT_TRIES]),
    )
    files.write_json_atomically(_path(folder, module.name, _RESULT), dataclasses.asdict(result))


def _parsed(content: Any, path: pathlib.Path) -> ModuleResult:
    fields = Fields(content, f"search of a module ({path})", _REMEDY)
    curve = fields.read("curve", list)
    if not all(isinstance(point, list) and list(map(type, point)) in ([int, float], [int, int]) for point in curve):
        raise fields.error("has a field 'curve' that is no list of numbers of compiles and sizes")
    plain = {
        field.name: fields.read(field.name, field.type)
        for field in dataclasses.fields(ModuleResult)
        if field.type in (bool, float, int)
    }
    return ModuleResult(
        **plain,
        policy=None if content.get("policy") is None else fields.read("policy", float),
        curve=tuple((int(compiles), float(size)) for compiles, size in curve),
        next_tries=tuple(fields.texts("next_tries")),
    )


def _path(folder: pathlib.Path, name: str, kind: str) -> pathlib.Path:
    return folder / f"{name}.{kind}"
