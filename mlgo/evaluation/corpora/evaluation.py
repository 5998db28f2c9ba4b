"""Compares policies with the compiler's default on corpora, module by module and in the linked image.

Folders below the output folder: `CORPUS/SIDE/` (compiled_side.py) and `CORPUS/SIDE.linked/` (code bytes of each module
in the linked image). A module that fails on one side is left out on all sides.
"""

import contextlib
import dataclasses
import itertools
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.compiler.request import CompileResult
from mlgo.corpus.corpus import Corpus
from mlgo.evaluation.comparison import Comparison, FunctionRow, compare
from mlgo.evaluation.corpora.compiled_side import code_of_side, compile_side, link_side, object_path, read_sizes
from mlgo.evaluation.corpora.coverage import Coverage, coverage_of
from mlgo.evaluation.policies import ModelOf
from mlgo.evaluation.sides import DEFAULT, Side, best_without_ml
from mlgo.evaluation.statistics import RatioSummary, percent_text, summarize_totals
from mlgo.identity.programs import program_identity
from mlgo.problems.problem import Problem
from mlgo.run import files
from mlgo.run.exit_codes import RunError
from mlgo.run.run_folder import RunFolder
from mlgo.score.code_size import COMDAT_WEIGHTED_CODE, ESTIMATED_CODE
from mlgo.score.problem_score import score_of
from mlgo.trace.no_decisions import no_decisions
from mlgo.trace.outcomes import ModuleRecord
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import Trace, compile_modules

_LINKED_NAME = "linked.json"


@dataclasses.dataclass(frozen=True)
class CorpusResult:
    """The result of one corpus."""

    corpus: str
    digest: str
    comparison: Comparison
    #: side -> module -> code bytes in the linked image; empty when nothing is linked.
    linked: Mapping[str, Mapping[str, int]]
    linked_summaries: Mapping[str, RatioSummary]  #: side -> ratio of the image's code bytes to the default's.
    #: side -> module -> function -> bytes in the object; only modules that failed on no side.
    code: Mapping[str, Mapping[str, Mapping[str, int]]]
    coverage: Coverage | None = None  #: which modules the linked images hold code of; None: nothing is linked.

    @property
    def not_compared(self) -> list[str]:
        """Modules that compile and have no row in the comparison, since nothing was decided in them, sorted."""
        return sorted(self.code[DEFAULT].keys() - {row.module for row in self.comparison.rows})

    def headline(self, side: str) -> RatioSummary | None:
        """The figure of `side` that is compared with others: linked code, else the weighted sum of the scores, else
        their geometric mean; None: nothing was compared."""
        weighted = self.comparison.weighted.get(side)
        return self.linked_summaries.get(side) or (weighted.summary if weighted else self.comparison.summaries[side])

    @property
    def headlines(self) -> dict[str, float]:
        found = {side: self.headline(side) for side in self.comparison.summaries}
        return {side: summary.geometric_mean for side, summary in found.items() if summary is not None}

    def object_code(self, side: str) -> float | None:
        """Ratio of the objects' bytes of code, summed over all functions, to the default's; None: they have none."""
        default = self._object_bytes(DEFAULT)
        return self._object_bytes(side) / default if default else None

    def _object_bytes(self, side: str) -> int:
        return sum(sum(functions.values()) for functions in self.code[side].values())

    def to_json(self) -> dict[str, Any]:
        return {
            "digest": self.digest,
            **self.comparison.to_json(),
            "modules": len(self.code[DEFAULT]),
            "not_compared": self.not_compared,
            "without_ml": best_without_ml(self.headlines),
            "coverage": self.coverage and self.coverage.to_json(),
            "object_code_bytes": {side: self._object_bytes(side) for side in self.code},
            "linked_code_bytes": {side: sum(sizes.values()) for side, sizes in self.linked.items()},
            "linked_code": {side: dataclasses.asdict(summary) for side, summary in self.linked_summaries.items()},
        }


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """Settings that all corpora of an evaluation share."""

    folder: RunFolder
    setup: CompileSetup
    configuration: Mapping[str, Any]  #: other settings that change the result of a side.
    seed: int
    reward: str | None  #: one of the problem's rewards; None: the default one.
    linker: pathlib.Path | None  #: ld.lld; None: nothing is linked.
    icf: bool = False

    def of_corpus(
        self, name: str, corpus: Corpus, sides: Sequence[Side], model_of: ModelOf, only: Sequence[str] | None = None
    ) -> CorpusResult:
        """Compiles and links `corpus` under the default and all `sides`; skips work that was done before.

        Args: only: the modules to compare, without linking; None: all. The default still compiles the whole corpus
          where the score of a module depends on the others.
        Raises: RunError: too many modules fail, no module has a decision, or linking fails.
        """
        default = Side(DEFAULT, self.setup.clang)
        all_sides = [default, *sides]
        compared_modules = corpus if only is None else corpus.select(list(only))
        score = score_of(self.setup.problem)
        whole = corpus if score.uses_other_modules else compared_modules
        of_default = self._compiled(name, whole, default, model_of)
        corpus_score = score.for_corpus(
            {module: record.functions for module, record in of_default.items()}, self.reward
        )
        records: dict[str, Mapping[str, ModuleRecord]] = {
            DEFAULT: {module.name: of_default[module.name] for module in compared_modules.modules},
            **{side.name: self._compiled(name, compared_modules, side, model_of) for side in sides},
        }
        comparison = compare(
            records, corpus_score.comparison_rows, score.ratio, self.seed, larger_is_better=score.larger_is_better
        )
        check_decisions(compared_modules, self.setup, comparison.rows, len(comparison.failed))
        modules = [module.name for module in compared_modules.modules if module.name not in comparison.failed]
        code = {side.name: code_of_side(self.folder.path / name / side.name, modules) for side in all_sides}
        result = CorpusResult(name, compared_modules.digest, comparison, {}, {}, code)
        return result if self.linker is None or only is not None else self._with_images(result, corpus, all_sides)

    def _with_images(self, result: CorpusResult, corpus: Corpus, sides: Sequence[Side]) -> CorpusResult:
        """Adds the linked images. Args: sides: the default first."""
        default, *others = sides
        modules = [module.name for module in corpus.modules if module.name not in result.comparison.failed]
        linked = {DEFAULT: self._linked(result.corpus, corpus, default, modules)}
        sizes = {module: sum(functions.values()) for module, functions in result.code[DEFAULT].items()}
        # Before the other images: an image of few of the modules is no measure.
        coverage_of(sizes, [linked[DEFAULT]]).check(result.corpus)
        linked |= {side.name: self._linked(result.corpus, corpus, side, modules) for side in others}
        objects = {module: object_path(self.folder.path / result.corpus / DEFAULT, module) for module in modules}
        summaries = {}
        for side in others:
            pairs = {module: (linked[side.name][module], linked[DEFAULT][module]) for module in modules}
            if (summary := summarize_totals(pairs, self.seed)) is not None:
                summaries[side.name] = summary
        coverage = coverage_of(sizes, list(linked.values()), objects)
        return dataclasses.replace(result, linked=linked, linked_summaries=summaries, coverage=coverage)

    def _compiled(self, name: str, corpus: Corpus, side: Side, model_of: ModelOf) -> Mapping[str, ModuleRecord]:
        links = self.linker is not None

        def work(folder: pathlib.Path) -> Mapping[str, Any]:
            return compile_side(folder, corpus, self.setup, side, model_of(side), f"{name}, {side.name}", links)

        stage = f"{name}/{side.name}"
        self.folder.stage(
            stage, {"corpus": corpus.digest, "side": side.digest()}, {**self.configuration, "linked": links}, work
        )
        return Trace.load(self.folder.path / stage, corpus).records

    def _linked(self, name: str, corpus: Corpus, side: Side, modules: Sequence[str]) -> Mapping[str, int]:
        assert self.linker is not None  # of_corpus sees to it.
        linker = self.linker

        def work(folder: pathlib.Path) -> Mapping[str, Any]:
            sizes = link_side(self.folder.path / name / side.name, linker, modules, self.icf)
            files.write_json_atomically(folder / _LINKED_NAME, sizes)
            return {"code_bytes": sum(sizes.values())}

        stage = f"{name}/{side.name}.linked"
        inputs = {"corpus": corpus.digest, "side": side.digest(), "linker": program_identity(linker)}
        configuration = {**self.configuration, "modules": list(modules), "icf": self.icf}
        self.folder.stage(stage, inputs, configuration, work)
        return read_sizes(self.folder.path / stage / _LINKED_NAME, "linked sizes")


def check_decisions(corpus: Corpus, setup: CompileSetup, rows: Sequence[FunctionRow], failed: int) -> None:
    """Checks that `corpus` has a decision of the problem: without one, every policy would be equal to the default.

    A score that a policy changed, or that the compiler logs for a decision, shows one. Where all are equal to the
    default's, the modules are compiled once more, with their decisions logged, up to the first that has one.
    Raises: RunError: no module has a decision (NOTHING_PRODUCED); the message names the likely reason.
    """
    decided = any(row.decisions or any(ratio != 1.0 for ratio in row.ratios.values()) for row in rows)
    if decided or failed == len(corpus.modules):
        return
    with contextlib.closing(compile_modules(corpus.modules, setup, itertools.repeat(None))) as outcomes:
        for _, outcome in outcomes:
            if isinstance(outcome, CompileResult) and outcome.log is not None and outcome.log.observation_count:
                return
    raise no_decisions(corpus, setup.problem)


def chosen_reward(problem: Problem, name: str | None) -> str:
    """The reward that is compared per module. Args: name: as the user gave it; None: the problem's default.

    Raises: RunError: the problem has no such reward, or it is an estimate.
    """
    try:
        reward = score_of(problem).chosen_reward(name)
    except ValueError as error:
        raise RunError(f"--reward={name}", str(error), "Give one of them, or remove the flag") from error
    if reward == ESTIMATED_CODE:
        wrong = "is an estimate for training; an evaluation measures the sizes of the code itself"
        raise RunError(f"--reward={reward}", wrong, f"Remove the flag, or give --reward={COMDAT_WEIGHTED_CODE}")
    return reward


def worse_than(results: Sequence[CorpusResult], policies: Sequence[str], allowed: float) -> list[str]:
    """ "CORPUS: POLICY +0.30 %" for each policy worse than the default by more than `allowed` (0.001 is 0.1 %).

    The headlines are compared: linked code or, where nothing is linked, the weighted sum of the scores.
    """
    return [
        f"{result.corpus}: {policy} {percent_text(ratio)}"
        for result in results
        for policy in policies
        if (ratio := result.headlines.get(policy, 1.0)) > 1.0 + allowed
    ]
