"""Compiles by a stock clang whose decisions a policy takes through the interactive channel, in NumPy."""

import concurrent.futures
import dataclasses
import functools
import os
import pathlib
import shutil
from collections.abc import Callable, Mapping, Sequence

from mlgo.compiler.attempts import certain_outcome
from mlgo.compiler.interactive import InteractiveCompile
from mlgo.compiler.request import CompileFailure, CompileLimits, CompileOutcome, CompileRequest
from mlgo.corpus.corpus import Module
from mlgo.environments.scores import channel_score
from mlgo.evaluation.comparison import Comparison, compare
from mlgo.evaluation.sides import DEFAULT
from mlgo.learning.network import PolicyNetwork
from mlgo.policy.directory import load_policy
from mlgo.policy.reference import decide
from mlgo.problems.problem import Problem
from mlgo.run import locate
from mlgo.run.exit_codes import RunError
from mlgo.score.function_scores import FunctionScore
from mlgo.trace.outcomes import ModuleRecord, Outcome

#: The side whose decisions a policy takes.
POLICY = "policy"

_PACKAGED_CLANG = "mlgo/environments/packaged_clang"
#: Debian's name of the program.
_ON_PATH = "clang-22"


def stock_clang(given: str | os.PathLike[str] | None) -> pathlib.Path:
    """The clang that is given; None: Debian's, which Bazel provides, or for an installed wheel clang-22 of the PATH.

    Raises: RunError: none is given, and there is no other.
    """
    if given is not None:
        return pathlib.Path(given).absolute()
    if locate.installed_root() is None:
        return locate.runfile(_PACKAGED_CLANG)
    found = shutil.which(_ON_PATH)
    if found is None:
        raise RunError("clang", f"is not given, and the PATH has no {_ON_PATH}", "Give the path of a clang 22")
    return pathlib.Path(found).absolute()


def stock_problem(problem: Problem) -> Problem:
    """`problem` with the features that the channel of a stock clang has."""
    return dataclasses.replace(problem, observation_specs=problem.interactive_specs(), features_of_ours=frozenset())


def load_stock_policy(folder: pathlib.Path, problem: Problem) -> PolicyNetwork:
    """The policy in `folder`. Raises: RunError: it cannot be read, or wants a feature that a stock clang lacks."""
    network, _ = load_policy(folder, stock_problem(problem))
    return network


def request_for(clang: pathlib.Path, module: Module, problem: Problem, limits: CompileLimits) -> CompileRequest:
    """A compile to an object, with what the score of the problem needs."""
    score = channel_score(problem)
    return CompileRequest(
        clang,
        module,
        problem,
        want_log=False,
        want_object=True,
        extra_flags=score.flags,
        extra_files=score.files,
        limits=limits,
    )


def compile_by(network: PolicyNetwork | None, request: CompileRequest) -> CompileOutcome:
    """The outcome of `request` with the decisions of a policy; None: of the heuristic. Raises: RunError."""
    if network is None:
        return certain_outcome(request)
    problem = stock_problem(request.advised_problem)
    with InteractiveCompile(request) as session:
        for observation in session:
            session.answer(decide(network, problem, observation.features))
    return session.outcome


@dataclasses.dataclass(frozen=True)
class ModuleScores:
    """What the two compiles of a module gave."""

    module: str
    default: dict[str, float]  #: score of each part (`ChannelScore.of_parts`); less is better. Empty after a failure.
    policy: dict[str, float]  #: the same.
    failure: str = ""  #: why there are no scores; "": there are.

    def record(self, scores: Mapping[str, float]) -> ModuleRecord:
        """One side of the module. Args: scores: of that side. A part that it lacks costs nothing there."""
        if self.failure:
            return ModuleRecord(Outcome.FAILED, self.failure)
        parts = {part: FunctionScore(0, scores.get(part, 0.0)) for part in {*self.default, *self.policy}}
        return ModuleRecord(Outcome.NO_DECISIONS, functions=parts)  # A compile without a log counts none.


def score_module(network: PolicyNetwork, request: CompileRequest) -> ModuleScores:
    """Compiles under the default and under the policy. Raises: RunError: see `compile_by`."""
    of_parts = channel_score(request.advised_problem).of_parts
    scores: list[dict[str, float]] = []
    for side in (None, network):
        outcome = compile_by(side, request)
        if isinstance(outcome, CompileFailure):
            by = "the policy" if side else "the default"
            return ModuleScores(request.module.name, {}, {}, f"{by}: {outcome.kind.value}: {outcome.detail}")
        scores.append(of_parts(outcome))
    default, policy = scores
    return ModuleScores(request.module.name, default, policy)


def score_modules(
    network: PolicyNetwork, requests: Sequence[CompileRequest], workers: int, advance: Callable[[], None]
) -> list[ModuleScores]:
    """`score_module` of all requests, in their order; `advance` is called after each. Raises: RunError: as there.

    Args: workers: compiles at a time; changes no result.
    """
    scores = []
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for found in pool.map(functools.partial(score_module, network), requests):
            scores.append(found)
            advance()
    return scores


def comparison_of(scores: Sequence[ModuleScores], problem: Problem, seed: int) -> Comparison:
    """The comparison of POLICY with the default, part by part."""
    sides = {
        DEFAULT: {each.module: each.record(each.default) for each in scores},
        POLICY: {each.module: each.record(each.policy) for each in scores},
    }
    return compare(sides, lambda module, parts: parts, channel_score(problem).ratio, seed)
