"""Collects what a learner with a `move_plan` learns from: builds of the chosen modules, and what changes of their
decisions are worth.
"""

import dataclasses
import pathlib
import time
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from mlgo.compiler.request import CompileFailure, CompileResult
from mlgo.corpus.corpus import Module
from mlgo.learning.learner import MeasuredMove, MovePlan, Sample
from mlgo.learning.normalization import Normalizer
from mlgo.learning.observations import Observations, pack
from mlgo.run import determinism
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.score.code_credit import Counting
from mlgo.score.problem_score import score_of
from mlgo.score.score import FunctionScores, Measure
from mlgo.search.build import Attempt, Build, build_of
from mlgo.search.module_search import Found, Search, search_from_policy
from mlgo.search.sampled_moves import sampled_moves
from mlgo.search.side_by_side import side_by_side
from mlgo.trace.outcomes import FailureLimit
from mlgo.trace.setup import CompileSetup
from mlgo.training.collection import Seconds


@dataclasses.dataclass(frozen=True)
class _ScoredBuild(Build):
    """A build with what a sample needs.

    Attributes:
      observations: its decisions, in the order of `decided`; None: there are none.
      improvement: over the default.
      weight: of the module in means.
    """

    observations: Observations | None
    improvement: float
    weight: float


class MoveCollection:
    """The moves of one iteration.

    Args:
      title: for messages.
      plan: how moves are measured.
      setup: how modules are compiled.
      default: module → its scores under the compiler's default.
      counting: which bytes count.
      measure: computes improvements.
      normalizer: of the packed decisions.
      seed: of the choice of moves.
      iteration: the same.
      seconds: the time of each part is added to it.

    Attributes:
      compiles: how many were made.
      failed: the kind of failure by "MODULE, compile K".
    """

    def __init__(
        self,
        title: str,
        plan: MovePlan,
        setup: CompileSetup,
        default: Mapping[str, FunctionScores],
        counting: Counting,
        measure: Measure,
        normalizer: Normalizer,
        seed: int,
        iteration: int,
        seconds: Seconds,
    ):
        self._title, self._plan, self._setup, self._default = title, plan, setup, default
        self._counting, self._measure, self._normalizer = counting, measure, normalizer
        self._seed, self._iteration, self._seconds = seed, iteration, seconds
        self._score = score_of(setup.problem)
        self._compiles: dict[str, int] = {}
        self._failures: FailureLimit

    @property
    def compiles(self) -> int:
        return sum(self._compiles.values())

    @property
    def failed(self) -> dict[str, str]:
        # Sorted: the order in which compiles end depends on the number of workers.
        return dict(sorted(self._failures.failed.items()))

    def samples(self, modules: Sequence[Module], model_dir: pathlib.Path) -> list[Sample]:
        """Samples of `modules`, in their order: of each the policy's build, then those that the search went through.

        Args: model_dir: TFLite model of the policy.
        Raises: RunError: too many compiles failed, or no module has a score on both sides.
        """
        self._failures = FailureLimit(self._title, len(modules) * self._plan.compiles, self._setup.max_failure_ratio)
        measured: dict[str, _MeasuredMoves] = {module.name: _MeasuredMoves() for module in modules}
        searches = ((module, self._search(module, measured[module.name])) for module in modules)
        begin, prepared = time.monotonic(), self._seconds.preparing
        found = {
            module.name: ended for module, ended in side_by_side(searches, self._setup, model_dir, self._scored_build)
        }
        self._seconds.waiting += time.monotonic() - begin - (self._seconds.preparing - prepared)
        samples = [
            sample
            for module in modules
            if (ended := found[module.name]) is not None
            for sample in _samples_of(module.name, ended, measured[module.name])
        ]
        if not samples:
            raise RunError(
                self._title,
                f"none of {len(modules)} modules has a score that could be compared with the default's",
                "Raise --modules_per_iteration",
                ExitCode.NOTHING_PRODUCED,
            )
        return samples

    def _search(self, module: Module, measured: "_MeasuredMoves") -> Search:
        random = determinism.generator(self._seed, "moves", self._iteration, module.name)
        return search_from_policy(
            self._plan.compiles,
            self._plan.against_policy,
            lambda build: sampled_moves(build, random, self._plan.unpromising),
            measured.add,
        )

    def _scored_build(
        self, module: Module, attempt: Attempt, outcome: CompileResult | CompileFailure
    ) -> _ScoredBuild | None:
        begin = time.monotonic()
        number = self._compiles[module.name] = self._compiles.get(module.name, 0) + 1
        if isinstance(outcome, CompileFailure):
            self._failures.add(f"{module.name}, compile {number}", outcome.kind.value, outcome.detail)
            return None
        self._seconds.clang += outcome.cpu_seconds
        scores, default = self._score.read(outcome), self._default[module.name]
        improvement = self._measure.module_improvement(module.name, scores, default)
        if improvement is None or outcome.log is None:
            return None
        log = outcome.log
        build = build_of(attempt, log, self._counting(module.name, scores))
        observations = None
        if log.observation_count:
            each = np.arange(log.observation_count)
            observations = pack(log.features, log.actions, self._normalizer, self._setup.problem, each)
        self._seconds.preparing += time.monotonic() - begin
        return _ScoredBuild(build.attempt, build.decided, build.costs, build.sizes, observations, *improvement)


class _MeasuredMoves:
    """What was measured in one module, by build, in the order of the measurements."""

    def __init__(self) -> None:
        self._of_build: dict[int, tuple[_ScoredBuild, list[MeasuredMove]]] = {}

    def add(self, build: Build, sites: Iterable[str], saved: float) -> None:
        """See search's `Measured`."""
        assert isinstance(build, _ScoredBuild)
        _, moves = self._of_build.setdefault(id(build), (build, []))
        index = {site: number for number, site in enumerate(build.decided)}
        moves.append(MeasuredMove(np.array([index[site] for site in sites], np.int64), saved))

    def with_moves(self) -> list[tuple[_ScoredBuild, list[MeasuredMove]]]:
        """Builds whose changes were measured, and the measurements."""
        return list(self._of_build.values())


def _samples_of(module: str, found: Found, measured: _MeasuredMoves) -> list[Sample]:
    """A sample of every build whose changes were measured, and of the best."""
    builds = measured.with_moves()
    (start,) = found.start.values()
    for build in (start, found.best):
        assert isinstance(build, _ScoredBuild)
        if all(build is not other for other, _ in builds):
            builds.append((build, []))
    builds.sort(key=lambda each: each[0] is not start)
    return [
        Sample(
            module,
            number,
            build.improvement,
            build.weight,
            build.observations,
            tuple(build.decided),
            moves=tuple(moves),
        )
        for number, (build, moves) in enumerate(builds)
    ]
