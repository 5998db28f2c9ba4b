"""Finds better inlining decisions for a corpus, and writes them as a decision file.

Folders below the output folder: `default/` and `policy/` (mlgo/evaluation/corpora/compiled_side.py), `search/`
(corpus_search.py), `found/` (objects with the decisions that were found), `refinement/` and `refined/` (the same for
the search that goes on from the image of these) and `image/` (which of them the image takes).
"""

import contextlib
import dataclasses
import functools
import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.corpus.corpus import Corpus, Module
from mlgo.evaluation.corpora import linked_code
from mlgo.evaluation.corpora.compiled_side import code_of_side, compile_side, object_path
from mlgo.evaluation.corpora.coverage import Coverage, coverage_of
from mlgo.evaluation.sides import DEFAULT, Side
from mlgo.identity.code import SEARCHES, digest_of_code
from mlgo.identity.programs import program_identity
from mlgo.run import files, progress
from mlgo.run.cache import Cache
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.manifest import digest_of_bytes, digest_of_json
from mlgo.run.run_folder import RunFolder
from mlgo.score.code_credit import ByteCounter
from mlgo.score.code_size import COMDAT_WEIGHTED_CODE, byte_counter
from mlgo.score.folded_code import AddedCode, FoldedCode, with_folds
from mlgo.score.score import FunctionScores
from mlgo.search.budget import Budget, split_budget
from mlgo.search.corpus_search import CorpusSearch, ModuleResult, results_in, section_in, sources_of
from mlgo.search.decision_file import ANY_MODULE, POLICY, Section, read, written
from mlgo.search.image import LinkedSelection, most_links, parsed_selection, smallest_image
from mlgo.search.results import Tuned
from mlgo.trace.compile_cache import key_of
from mlgo.trace.outcomes import ModuleRecord, Outcome
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import DecisionsGiven, Trace

FOUND, REFINED = "found", "refined"
_SEARCH, _REFINEMENT, _IMAGE = "search", "refinement", "image"
#: Stage of a search → stage of the objects with the decisions that it found.
_OBJECTS_OF = {_SEARCH: FOUND, _REFINEMENT: REFINED}
_IMAGE_NAME = "image.json"
_REMEDY = "Delete the folder and run again"


@dataclasses.dataclass(frozen=True)
class Tuning:
    """A search and its settings."""

    folder: RunFolder
    setup: CompileSetup
    corpus: Corpus
    policy: Side | None  #: where the search may start besides the default, named POLICY; None: there is none.
    model_dir: pathlib.Path | None  #: model of `policy`.
    inputs: Mapping[str, str]  #: digests of what decides the result besides the corpus and the policy.
    configuration: Mapping[str, Any]  #: settings that decide the result.
    reward: str  #: which bytes count, one of the problem's rewards.
    linker: pathlib.Path
    icf: bool
    budget: Budget
    cache: Cache | None = None  #: of the results of modules, shared by runs; None: there is none.

    def run(self) -> Tuned:
        """Searches the corpus; skips work that was done before.

        Raises: RunError: too many modules fail, no module has a decision, linking fails, or the image of a corpus holds
          code of few of its modules.
        """
        corpus = self.corpus
        starts = [DEFAULT, *([POLICY] if self.policy else [])]
        # Besides the searches, every module is compiled for each side, and with what each search found.
        compiles = self.budget.compiles_of(corpus.modules, len(starts) + (2 if self._folds else 1))
        first, rest = split_budget(compiles) if self._folds else (compiles, {})
        records = {side: self._compiled(side, corpus) for side in starts}
        outcomes = {module.name: [each[module.name].outcome for each in records.values()] for module in corpus.modules}
        usable = [module for module in corpus.modules if Outcome.FAILED not in outcomes[module.name]]
        names = [module.name for module in usable]
        coverage = self._coverage(names, starts)
        coverage.check(str(corpus.path))
        for line in coverage.lines(corpus.path.name):
            progress.tell(line)
        if coverage.absent:
            progress.tell(
                f"{len(coverage.absent)} modules are not searched, because the image holds none of their code"
            )
        present = [module for module in usable if module.name not in coverage.absent]
        inputs = {**self.inputs, "corpus": corpus.digest, "policy": self._policy_digest}
        inputs |= {"absent": digest_of_json(list(coverage.absent))} if coverage.absent else {}
        default, *others = (self._scores(side, each) for side, each in records.items())
        counting = FoldedCode.of_builds(default, *others) if self._folds else byte_counter(self.reward, default)
        found = self._searched(_SEARCH, self._search(counting, default, first), present, inputs)
        results = {name: result for name, result in found.items() if result.questions}
        if not results:
            subject, remedy = f"corpus of {len(corpus.modules)} modules", "Give one with calls that could be inlined"
            raise RunError(subject, "has no decision to search", remedy, ExitCode.NOTHING_PRODUCED)
        searched = corpus.select([name for name in names if name in results])
        builds = self._built(_SEARCH, searched, counting, results)
        last = FOUND
        if rest:
            # In the order of linking. Where nothing is decided, all sides are the same.
            refinement = self._refinement({name: builds.get(name, default[name]) for name in names}, rest)
            refined = self._searched(_REFINEMENT, refinement, searched.modules, inputs)
            self._built(_REFINEMENT, searched, refinement.counting, refined)
            results = {name: result.continued(refined[name]) for name, result in results.items()}
            last = REFINED
        image = self._image(names, results, starts, last, inputs)
        sections = {module.name: self._section(module, image.side_of[module.name]) for module in searched.modules}
        sources = sources_of(searched.modules)
        decisions = written(
            dataclasses.replace(section, source=source)
            for name, section in sections.items()
            if (source := sources[name]) is not None
        )
        unnamed = [name for name, source in sources.items() if source is None]
        return Tuned(results, image, decisions, sorted({*outcomes.keys() - found.keys(), *unnamed}), coverage)

    def _coverage(self, modules: Sequence[str], sides: Sequence[str]) -> Coverage:
        """Of the images in which all `modules` have the objects of one of `sides`."""
        functions = code_of_side(self.folder.path / DEFAULT, modules)
        objects = [{name: object_path(self.folder.path / side, name) for name in modules} for side in sides]
        code = {name: sum(sizes.values()) for name, sizes in functions.items()}
        return coverage_of(code, [self._linked(each) for each in objects], objects[0])

    def _linked(self, objects: Mapping[str, pathlib.Path]) -> Mapping[str, int]:
        with tempfile.TemporaryDirectory(prefix="mlgo-link-") as scratch:
            return linked_code.link(self.linker, objects, pathlib.Path(scratch), self.icf)

    def _compiled(
        self, name: str, corpus: Corpus, given: DecisionsGiven = lambda module: None
    ) -> Mapping[str, ModuleRecord]:
        """Compiles the side `name`: the default, or the policy with the decisions `given`."""
        policy = None if name == DEFAULT else self.policy
        side = policy or Side(DEFAULT, self.setup.clang)
        model_dir = self.model_dir if policy else None

        def work(folder: pathlib.Path) -> Mapping[str, Any]:
            return compile_side(folder, corpus, self.setup, side, model_dir, name, True, given)

        inputs = {**self.inputs, "corpus": corpus.digest, "policy": side.policy}
        configuration = self._of_search if name in _OBJECTS_OF.values() else self._of_compiles
        self.folder.stage(name, inputs, configuration, work)
        return Trace.load(self.folder.path / name, corpus).records

    @property
    def _folds(self) -> bool:
        """Whether the search counts equal functions as the linker folds them."""
        return self.icf and self.reward == COMDAT_WEIGHTED_CODE

    @property
    def _policy_digest(self) -> str:
        return self.policy.policy if self.policy else ""

    @property
    def _of_compiles(self) -> dict[str, Any]:
        """The part of the configuration that compiles depend on."""
        return {"cpu_seconds": self.setup.limits.cpu_seconds}

    @property
    def _of_search(self) -> dict[str, Any]:
        return {**self.configuration, **self._of_compiles, **({"counted": "folded"} if self._folds else {})}

    def _scores(self, side: str, records: Mapping[str, ModuleRecord]) -> Mapping[str, FunctionScores]:
        """Module → scores, with fold identities if they count."""
        if not self._folds:
            return {name: record.functions for name, record in records.items()}
        objects = {name: object_path(self.folder.path / side, name) for name in records}
        return {
            name: with_folds(record.functions, objects[name].read_bytes() if objects[name].exists() else None, name)
            for name, record in records.items()
        }

    def _given(self, stage: str, module: Module) -> bytes:
        return section_in(self.folder.path / stage, module.name)

    def _section(self, module: Module, side: str) -> Section:
        """The decisions of `side` for a module, which stand for any source."""
        if side not in _OBJECTS_OF.values():  # It is named like what decides.
            return Section(ANY_MODULE, side, {})
        (stage,) = (stage for stage, objects in _OBJECTS_OF.items() if objects == side)
        (section,) = read(self._given(stage, module), f"decisions of {module.name}")
        return section

    def _built(
        self, stage: str, corpus: Corpus, counting: ByteCounter, results: Mapping[str, ModuleResult]
    ) -> Mapping[str, FunctionScores]:
        """Module → its scores with the decisions that the search `stage` found, compiled again and checked."""
        name = _OBJECTS_OF[stage]
        scores = self._scores(name, self._compiled(name, corpus, functools.partial(self._given, stage)))
        if unknown := [each.name for each in corpus.modules if each.name not in results]:
            raise RunError(f"module {unknown[0]}", "does not compile with the decisions that were found", "Report it")
        sizes = {each.name: sum(counting(each.name, scores[each.name]).values()) for each in corpus.modules}
        check_sizes({each: results[each] for each in sizes}, sizes)
        return scores

    def _search(
        self, counting: ByteCounter, builds: Mapping[str, FunctionScores], compiles: Mapping[str, int]
    ) -> CorpusSearch:
        """Args: builds: module → its scores in a build that `counting` compares with."""
        settings = {name: value for name, value in self._of_search.items() if name not in ("compiles_limit", "budget")}
        # Files that the modules share.
        carried = dataclasses.replace(self.corpus, modules=()).digest
        shared = {**self.inputs, **settings, "policy": self._policy_digest, "corpus": carried}
        shared["code"] = digest_of_code(SEARCHES)
        if isinstance(counting, FoldedCode | AddedCode):
            shared["folding"] = counting.digest

        def key(module: Module) -> str:
            # What a function of the module counts depends on the other modules.
            counted = counting(module.name, builds[module.name])
            return key_of({**shared, "compiles": compiles[module.name], "counted": counted}, module)

        return CorpusSearch(self.setup, self.model_dir, counting, compiles, self.cache, key, self._folds)

    def _refinement(self, builds: Mapping[str, FunctionScores], compiles: Mapping[str, int]) -> CorpusSearch:
        """The search that goes on from what was found, for what each module adds to the image of `builds`."""
        search = self._search(AddedCode.of_builds(builds), builds, compiles)

        def key(module: Module) -> str:
            return digest_of_json([search.key_of(module), digest_of_bytes(self._given(_SEARCH, module))])

        return dataclasses.replace(search, key_of=key, start_of=lambda module: self._section(module, FOUND))

    def _searched(
        self, stage: str, search: CorpusSearch, modules: Sequence[Module], inputs: Mapping[str, str]
    ) -> dict[str, ModuleResult]:

        def work(folder: pathlib.Path) -> Mapping[str, Any]:
            done = sum(search.has(folder, module) for module in modules)
            with contextlib.closing(progress.start(stage, len(modules), "modules", done=done)) as shown:
                search.run(folder, modules, lambda module: shown.advance(1, module.name))
            return {"modules": len(modules)}

        self.folder.stage(stage, inputs, self._of_search, work)
        return results_in(self.folder.path / stage, modules)

    def _image(
        self,
        modules: Sequence[str],
        searched: Mapping[str, Any],
        starts: Sequence[str],
        last: str,
        inputs: Mapping[str, str],
    ) -> LinkedSelection:
        """Args: last: the side of the last search."""

        def link(side_of: Mapping[str, str]) -> Mapping[str, int]:
            # Where nothing is decided, all sides are the same.
            sides = {name: side if name in searched else DEFAULT for name, side in side_of.items()}
            return self._linked({name: object_path(self.folder.path / side, name) for name, side in sides.items()})

        def work(folder: pathlib.Path) -> Mapping[str, Any]:
            greedy_per_module = [*dict.fromkeys([last, FOUND]), *starts] if self._folds else []
            most = most_links(len(modules), len(starts), bool(greedy_per_module))
            with contextlib.closing(progress.start(_IMAGE, most, "links")) as shown:

                def shown_link(side_of: Mapping[str, str]) -> Mapping[str, int]:
                    sizes = link(side_of)
                    shown.advance(1, f"{sum(sizes.values()):,} bytes")
                    return sizes

                image = smallest_image(shown_link, modules, starts, last, greedy_per_module)
            files.write_json_atomically(folder / _IMAGE_NAME, dataclasses.asdict(image))
            return {"code_bytes": image.size}

        configuration = {**self._of_search, "icf": self.icf, "modules": list(modules)}
        self.folder.stage(_IMAGE, {**inputs, "linker": program_identity(self.linker)}, configuration, work)
        path = self.folder.path / _IMAGE / _IMAGE_NAME
        content = files.read_json(path, "choice of objects", _REMEDY)
        return parsed_selection(content, f"choice of objects ({path})", _REMEDY)


def check_sizes(results: Mapping[str, ModuleResult], sizes: Mapping[str, float]) -> None:
    """Compares the modules, compiled again with the decisions that were found, with their searches.

    Args: sizes: module → bytes that count.
    Raises: RunError: a module has another size.
    """
    for name, result in results.items():
        if abs(sizes[name] - result.best) > 0.01:
            raise RunError(
                f"module {name}",
                f"has {sizes[name]:,.1f} bytes with the decisions found, and had {result.best:,.1f} in the search",
                "Report it: one compile is not like another",
            )
