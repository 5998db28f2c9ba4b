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
from mlgo.search.build import Attempt
from mlgo.search.corpus_search import CorpusSearch, ModuleResult, results_in, section_in, sources_of
from mlgo.search.decision_file import Section, read, written
from mlgo.search.image import LinkedSelection, most_links, parsed_selection, smallest_image
from mlgo.search.module_search import DEFAULT as BY_DEFAULT
from mlgo.search.module_search import POLICY as BY_POLICY
from mlgo.search.results import Tuned
from mlgo.trace.compile_cache import key_of
from mlgo.trace.outcomes import ModuleRecord, Outcome
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import DecisionsGiven, Trace

POLICY, FOUND, REFINED = "policy", "found", "refined"
_SEARCH, _REFINEMENT, _IMAGE = "search", "refinement", "image"
#: Stage of a search → stage of the objects with the decisions that it found.
_OBJECTS_OF = {_SEARCH: FOUND, _REFINEMENT: REFINED}
_IMAGE_NAME = "image.json"
_REMEDY = "Delete the folder and run again"


@dataclasses.dataclass(frozen=True)
class Tuning:
    """Settings of a search."""

    folder: RunFolder
    setup: CompileSetup
    inputs: Mapping[str, str]  #: digests of what decides the result besides the corpus and the policy.
    configuration: Mapping[str, Any]  #: settings that decide the result.
    reward: str  #: which bytes count, one of the problem's rewards.
    linker: pathlib.Path
    icf: bool
    budget: Budget
    cache: Cache | None = None  #: of the results of modules, shared by runs; None: there is none.

    def of_corpus(self, corpus: Corpus, policy: Side | None, model_dir: pathlib.Path | None) -> Tuned:
        """Searches `corpus`; skips work that was done before.

        Args: policy, model_dir: where the search may start besides the default; None: there is none.
        Raises: RunError: too many modules fail, no module has a decision, linking fails, or the image of a corpus holds
          code of few of its modules.
        """
        sides = [Side(DEFAULT, self.setup.clang), *([policy] if policy else [])]
        # Besides the searches, every module is compiled for each side, and with what each search found.
        compiles = self.budget.compiles_of(corpus.modules, len(sides) + (2 if self._folds else 1))
        first, rest = split_budget(compiles) if self._folds else (compiles, {})
        records = {}
        for side in sides:
            model = None if side.name == DEFAULT else model_dir
            records[side.name] = self._compiled(side.name, corpus, side, model)
        outcomes = {module.name: [each[module.name].outcome for each in records.values()] for module in corpus.modules}
        usable = [module for module in corpus.modules if Outcome.FAILED not in outcomes[module.name]]
        coverage = self._coverage([module.name for module in usable], [side.name for side in sides])
        coverage.check(str(corpus.path))
        for line in coverage.lines(corpus.path.name):
            progress.tell(line)
        if coverage.absent:
            progress.tell(
                f"{len(coverage.absent)} modules are not searched, because the image holds none of their code"
            )
        present = [module for module in usable if module.name not in coverage.absent]
        inputs = {"corpus": corpus.digest, "policy": policy.policy if policy else ""}
        of_present = inputs | ({"absent": digest_of_json(list(coverage.absent))} if coverage.absent else {})
        references = {side: self._scores(side, each) for side, each in records.items()}
        default, others = references[DEFAULT], [scores for side, scores in references.items() if side != DEFAULT]
        counting = FoldedCode.of_builds(default, *others) if self._folds else byte_counter(self.reward, default)
        search = self._search(corpus, counting, default, first, model_dir, inputs)
        found = self._searched(_SEARCH, search, present, of_present)
        results = {name: result for name, result in found.items() if result.questions}
        if not results:
            subject, remedy = f"corpus of {len(corpus.modules)} modules", "Give one with calls that could be inlined"
            raise RunError(subject, "has no decision to search", remedy, ExitCode.NOTHING_PRODUCED)
        searched = corpus.select([module.name for module in usable if module.name in results])
        decided = policy or Side(DEFAULT, self.setup.clang)
        builds = self._built(_SEARCH, searched, decided, model_dir, counting, results)
        last = FOUND
        if rest:
            # In the order of linking. Where nothing is decided, all sides are the same.
            builds = {module.name: builds.get(module.name, default[module.name]) for module in usable}
            refinement = self._refinement(searched, builds, rest, model_dir, inputs)
            refined = self._searched(_REFINEMENT, refinement, searched.modules, of_present)
            self._built(_REFINEMENT, searched, decided, model_dir, refinement.counting, refined)
            results = {name: result.continued(refined[name]) for name, result in results.items()}
            last = REFINED
        names, starts = [module.name for module in usable], [side.name for side in sides]
        image = self._image(names, results, starts, last, of_present)
        sections = {module.name: self._section(module, image.side_of[module.name]) for module in searched.modules}
        decisions, unnamed = _file_of(sections, sources_of(searched.modules))
        left_out = sorted({*outcomes.keys() - found.keys(), *unnamed})
        return Tuned(results, image, decisions, left_out, coverage)

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
        self,
        name: str,
        corpus: Corpus,
        side: Side,
        model_dir: pathlib.Path | None,
        given: DecisionsGiven = lambda module: None,
    ) -> Mapping[str, ModuleRecord]:
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

    def _scores(self, side: str, records: Mapping[str, ModuleRecord]) -> Mapping[str, FunctionScores]:
        """Module → scores, with fold identities if they count."""
        if not self._folds:
            return {name: record.functions for name, record in records.items()}
        objects = {name: object_path(self.folder.path / side, name) for name in records}
        return {
            name: with_folds(record.functions, objects[name].read_bytes() if objects[name].exists() else None, name)
            for name, record in records.items()
        }

    @property
    def _of_compiles(self) -> dict[str, Any]:
        """The part of the configuration that compiles depend on."""
        return {"cpu_seconds": self.setup.limits.cpu_seconds}

    @property
    def _of_search(self) -> dict[str, Any]:
        return {**self.configuration, **self._of_compiles, **({"counted": "folded"} if self._folds else {})}

    def _given(self, stage: str, module: Module) -> bytes:
        return section_in(self.folder.path / stage, module.name)

    def _built(
        self,
        stage: str,
        corpus: Corpus,
        side: Side,
        model_dir: pathlib.Path | None,
        counting: ByteCounter,
        results: Mapping[str, ModuleResult],
    ) -> Mapping[str, FunctionScores]:
        """Module → its scores with the decisions that the search `stage` found, compiled again and checked."""
        name = _OBJECTS_OF[stage]
        scores = self._scores(
            name, self._compiled(name, corpus, side, model_dir, functools.partial(self._given, stage))
        )
        if unknown := [each.name for each in corpus.modules if each.name not in results]:
            raise RunError(f"module {unknown[0]}", "does not compile with the decisions that were found", "Report it")
        sizes = {each.name: sum(counting(each.name, scores[each.name]).values()) for each in corpus.modules}
        check_sizes({each: results[each] for each in sizes}, sizes)
        return scores

    def _search(
        self,
        corpus: Corpus,
        counting: ByteCounter,
        builds: Mapping[str, FunctionScores],
        compiles: Mapping[str, int],
        model_dir: pathlib.Path | None,
        inputs: Mapping[str, str],
    ) -> CorpusSearch:
        """The search of `corpus`. Args: builds: module → its scores in a build that `counting` compares with."""
        settings = {name: value for name, value in self._of_search.items() if name not in ("compiles_limit", "budget")}
        code = digest_of_code(SEARCHES)
        # Files that its modules share.
        carried = dataclasses.replace(corpus, modules=()).digest
        shared = {**self.inputs, **settings, **inputs, "code": code, "corpus": carried}
        if isinstance(counting, FoldedCode | AddedCode):
            shared["folding"] = counting.digest

        def key(module: Module) -> str:
            # What a function of the module counts depends on the other modules.
            counted = counting(module.name, builds[module.name])
            return key_of({**shared, "compiles": compiles[module.name], "counted": counted}, module)

        return CorpusSearch(self.setup, model_dir, counting, compiles, self.cache, key, self._folds)

    def _refinement(
        self,
        corpus: Corpus,
        builds: Mapping[str, FunctionScores],
        compiles: Mapping[str, int],
        model_dir: pathlib.Path | None,
        inputs: Mapping[str, str],
    ) -> CorpusSearch:
        """The search that goes on from what was found, for what each module adds to the image of `builds`."""

        def start_of(module: Module) -> Attempt:
            (section,) = read(self._given(_SEARCH, module), f"decisions of {module.name}")
            return Attempt.of_section(section)

        search = self._search(corpus, AddedCode.of_builds(builds), builds, compiles, model_dir, inputs)

        def key(module: Module) -> str:
            return digest_of_json([search.key_of(module), digest_of_bytes(self._given(_SEARCH, module))])

        return dataclasses.replace(search, key_of=key, start_of=start_of)

    def _searched(
        self, stage: str, search: CorpusSearch, modules: Sequence[Module], inputs: Mapping[str, str]
    ) -> dict[str, ModuleResult]:

        def work(folder: pathlib.Path) -> Mapping[str, Any]:
            done = sum(search.has(folder, module) for module in modules)
            shown = progress.start(stage, len(modules), "modules", done=done)
            try:
                search.run(folder, modules, lambda module: shown.advance(1, module.name))
            finally:
                shown.close()
            return {"modules": len(modules)}

        self.folder.stage(stage, {**self.inputs, **inputs}, self._of_search, work)
        return results_in(self.folder.path / stage, modules)

    def _image(
        self,
        modules: Sequence[str],
        searched: Mapping[str, Any],
        starts: Sequence[str],
        last: str,
        inputs: dict[str, str],
    ) -> LinkedSelection:
        """Args: last: the side of the last search."""

        def object_of(name: str, side: str) -> pathlib.Path:
            # Where nothing is decided, all sides are the same.
            return object_path(self.folder.path / (side if name in searched else DEFAULT), name)

        def link(side_of: Mapping[str, str]) -> Mapping[str, int]:
            return self._linked({name: object_of(name, side) for name, side in side_of.items()})

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

        inputs = {**self.inputs, **inputs, "linker": program_identity(self.linker)}
        configuration = {**self._of_search, "icf": self.icf, "modules": list(modules)}
        self.folder.stage(_IMAGE, inputs, configuration, work)
        path = self.folder.path / _IMAGE / _IMAGE_NAME
        return parsed_selection(
            files.read_json(path, "choice of objects", _REMEDY), f"choice of objects ({path})", _REMEDY
        )

    def _section(self, module: Module, side: str) -> Section:
        """The decisions of `side` for a module, which stand for any source."""
        if side in (DEFAULT, POLICY):
            return Attempt({DEFAULT: BY_DEFAULT, POLICY: BY_POLICY}[side]).section()
        stage = {objects: searched for searched, objects in _OBJECTS_OF.items()}[side]
        (section,) = read(self._given(stage, module), f"decisions of {module.name}")
        return section


def _file_of(sections: Mapping[str, Section], sources: Mapping[str, str | None]) -> tuple[bytes, list[str]]:
    """The decision file, and the modules that it cannot name. Args: sections, sources: by module."""
    named = [
        dataclasses.replace(section, source=source)
        for name, section in sections.items()
        if (source := sources[name]) is not None
    ]
    return written(named), [name for name in sections if sources[name] is None]


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
