"""How a policy differs from the heuristic on a corpus: the content of explanation.json.

`observe` reads one module at a time, so memory does not grow with the corpus.
"""

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlgo.explanation.attribution import Piece
from mlgo.explanation.decision import ExplainedDecision
from mlgo.explanation.importance import FeatureImportance, Share, share_of
from mlgo.explanation.recorded import RecordedDecisions
from mlgo.explanation.replay import Replay
from mlgo.explanation.selection import varied
from mlgo.learning.observations import Observations
from mlgo.problems.problem import Problem
from mlgo.run.determinism import generator

#: Value of "kind" in explanation.json.
KIND = "explanation"
#: The most examples of one module; of one function or callee there is one.
_PER_MODULE = 2
_CANDIDATES_PER_MODULE = 8
#: Features that an example lists, largest contributions first.
_EXAMPLE_REASONS = 8
_DIGITS = 6


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A possible example. Attributes: decision: index in the module; others as in ExplainedDecision."""

    module: str
    decision: int
    function: str
    callee: str
    margin: float


@dataclasses.dataclass(frozen=True)
class ModuleView:
    """The figures of a module."""

    module: str
    decisions: int
    differing: int
    sample: Observations  #: some of the states, with the policy's decisions.
    ways: Mapping[tuple[str, str], int]  #: (heuristic's decision, policy's decision) -> number of differing decisions.
    candidates: tuple[Candidate, ...]  #: the differing decisions with the largest margins.


def observe(problem: Problem, recorded: RecordedDecisions, replayed: Replay, rate: float, seed: int) -> ModuleView:
    """The figures of a module, of whose states the fraction `rate`, in (0, 1], is sampled."""
    random = generator(seed, "sample", recorded.module)
    sampled = np.flatnonzero(random.random(len(recorded)) < rate)
    found = [
        Candidate(recorded.module, n, recorded.function(n), recorded.callee(n), replayed.margin(n) or 0.0)
        for n in np.flatnonzero(replayed.known_differs).tolist()
    ]
    found.sort(key=lambda each: (-each.margin, each.decision))
    kept = varied(found, _CANDIDATES_PER_MODULE, [lambda each: each.function], [1])
    ways = collections.Counter(_way(problem, replayed, candidate.decision) for candidate in found)
    return ModuleView(
        recorded.module, len(recorded), len(found), replayed.observations.select(sampled), dict(ways), tuple(kept)
    )


def choose_examples(views: Sequence[ModuleView], count: int) -> list[Candidate]:
    """The differing decisions with the largest margins, from many modules, functions and callees."""
    everyone = [candidate for view in views for candidate in view.candidates]
    everyone.sort(key=lambda each: (-each.margin, each.module, each.decision))
    keys = [lambda each: each.module, lambda each: each.function, lambda each: each.callee or each.function]
    return varied(everyone, count, keys, [_PER_MODULE, 1, 1])


def ways_of(views: Sequence[ModuleView]) -> dict[tuple[str, str], int]:
    """ModuleView.ways of all modules, the most frequent first."""
    total = sum((collections.Counter(view.ways) for view in views), collections.Counter())
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))


def differing(views: Sequence[ModuleView]) -> dict[str, tuple[int, int]]:
    """Module -> (decisions that differ, all)."""
    return {view.module: (view.differing, view.decisions) for view in views}


def content_of(
    described: Mapping[str, Any],
    views: Sequence[ModuleView],
    own: Share | None,
    importance: Sequence[FeatureImportance],
    sample: Mapping[str, int],
    formula: tuple[float, Sequence[Piece]] | None,
    examples: Sequence[ExplainedDecision],
    demangled: Mapping[str, str],
) -> dict[str, Any]:
    """The content of explanation.json, which mlgo/explanation/README.md describes.

    Args:
      described: problem, digests of policy and corpus, seed, and the modules that failed.
      own: share of decisions that differ in the states of the policy's own compiles; None: it is unknown.
      sample: numbers of states and of permutations that the importance was measured with.
      formula: the policy if it is linear (attribution.formula).
      demangled: function -> demangled name.
    """
    by_module = differing(views)
    differs = share_of(by_module, described["seed"])
    return {
        "kind": KIND,
        **described,
        "decisions": differs.total,
        "modules": differs.modules,
        "differs_from_heuristic": _share_json(differs),
        "differs_from_heuristic_in_own_states": own and {**_share_json(own), "decisions": own.total},
        "ways_to_differ": [
            {"heuristic": way[0], "policy": way[1], "count": count} for way, count in ways_of(views).items()
        ],
        "by_module": {
            module: {"differing": count, "decisions": total} for module, (count, total) in sorted(by_module.items())
        },
        "importance_sample": sample,
        "importance": [
            {
                "feature": each.feature,
                "changed_decisions": _rounded(each.changed.share),
                **_interval_json(each.changed),
                "confidence_lost": _rounded(each.confidence_lost),
            }
            for each in importance
        ],
        "formula": formula
        and {
            "start": _rounded(formula[0]),
            "pieces": [
                {key: _rounded_number(value) for key, value in dataclasses.asdict(piece).items()}
                for piece in formula[1]
            ],
        },
        "examples": [_example_json(each, demangled) for each in examples],
    }


def _example_json(example: ExplainedDecision, demangled: Mapping[str, str]) -> dict[str, Any]:
    reasons = example.reasons[:_EXAMPLE_REASONS]
    content = {
        "module": example.module,
        "function": example.function,
        "function_demangled": demangled.get(example.function, example.function),
        "decision": example.number,
        "policy_choice": example.policy,
        "heuristic_choice": example.heuristic,
        "probability": _rounded(example.probability),
        "margin": _rounded(example.margin),
        "features": {reason.feature: _rounded(reason.value) for reason in reasons},
        "compared_with": {reason.feature: _rounded(reason.compared) for reason in reasons},
        "adds": {reason.feature: _rounded(reason.adds) for reason in reasons},
    }
    if example.callee:
        content["callee"] = example.callee
        content["callee_demangled"] = demangled.get(example.callee, example.callee)
    return content


def _way(problem: Problem, replayed: Replay, decision: int) -> tuple[str, str]:
    """The decisions of heuristic and policy; positions and numbers become "one" and "another"."""
    if problem.decision_kind == "continuous" or replayed.heuristic is None:
        return "one order", "another"
    theirs, ours = int(replayed.heuristic[decision]), int(replayed.policy[decision])
    first = problem.choice_names.get(theirs, problem.other_choice_name.format("one"))
    other = "one" if theirs in problem.choice_names else "another"
    return first, problem.choice_names.get(ours, problem.other_choice_name.format(other))


def _share_json(share: Share) -> dict[str, Any]:
    return {"count": int(share.count), "share": _rounded(share.share), **_interval_json(share)}


def _interval_json(share: Share) -> dict[str, Any]:
    return {"low": _rounded(share.low), "high": _rounded(share.high)}


def _rounded_number(value: float | str) -> float | str | None:
    return value if isinstance(value, str) else _rounded(value)


def _rounded(value: float | None) -> float | None:
    """A rounded value; None for infinities, which JSON lacks."""
    return None if value is None or not np.isfinite(value) else round(float(value), _DIGITS)
