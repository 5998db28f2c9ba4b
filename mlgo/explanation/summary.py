"""How a policy differs from the heuristic on a corpus: the content of explanation.json.

`observe` reads one module at a time, so memory does not grow with the corpus.
"""

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlgo.explanation.decision import ExplainedDecision, formula
from mlgo.explanation.importance import Share, importances, share_of
from mlgo.explanation.queried_policy import QueriedNetwork, QueriedPolicy
from mlgo.explanation.replay import Replay
from mlgo.explanation.selection import varied
from mlgo.learning.observations import Observations
from mlgo.run.determinism import generator

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
    candidates: Sequence[Candidate]  #: the differing decisions with the largest margins.


def observe(replayed: Replay, rate: float, seed: int) -> ModuleView:
    """The figures of a module, of whose states the fraction `rate`, in (0, 1], is sampled."""
    recorded = replayed.recorded
    random = generator(seed, "sample", recorded.module)
    sampled = np.flatnonzero(random.random(len(recorded)) < rate)
    found = [
        Candidate(recorded.module, n, recorded.function(n), recorded.callee(n), replayed.margin(n) or 0.0)
        for n in np.flatnonzero(replayed.known_differs).tolist()
    ]
    found.sort(key=lambda each: (-each.margin, each.decision))
    kept = varied(found, _CANDIDATES_PER_MODULE, [lambda each: each.function], [1])
    ways = collections.Counter(_way(replayed, candidate.decision) for candidate in found)
    sample = replayed.observations.select(sampled)
    return ModuleView(recorded.module, len(recorded), len(found), sample, ways, kept)


def choose_examples(views: Sequence[ModuleView], count: int) -> list[Candidate]:
    """The differing decisions with the largest margins, from many modules, functions and callees."""
    everyone = [candidate for view in views for candidate in view.candidates]
    everyone.sort(key=lambda each: (-each.margin, each.module, each.decision))
    keys = [lambda each: each.module, lambda each: each.function, lambda each: each.callee or each.function]
    return varied(everyone, count, keys, [_PER_MODULE, 1, 1])


def content_of(
    asked: QueriedPolicy,
    described: Mapping[str, Any],
    views: Sequence[ModuleView],
    own: Share | None,
    repeats: int,
    examples: Sequence[ExplainedDecision],
    demangled: Mapping[str, str],
) -> dict[str, Any]:
    """The content of explanation.json, which mlgo/explanation/README.md describes.

    Args:
      described: digests of policy and corpus, seed, and the modules that failed.
      own: share of decisions that differ in the states of the policy's own compiles; None: it is unknown.
      repeats: how often each feature is permuted.
      demangled: function -> demangled name.
    """
    seed = described["seed"]
    differs = share_of({view.module: (view.differing, view.decisions) for view in views}, seed)
    samples = {view.module: view.sample for view in views}
    ways = sum((collections.Counter(view.ways) for view in views), collections.Counter())
    content = {
        "kind": "explanation",
        "problem": asked.problem.name,
        **described,
        "decisions": differs.total,
        "modules": differs.modules,
        "differs_from_heuristic": _share_json(differs),
        "differs_from_heuristic_in_own_states": own and {**_share_json(own), "decisions": own.total},
        "ways_to_differ": [
            {"heuristic": way[0], "policy": way[1], "count": count}
            for way, count in sorted(ways.items(), key=lambda item: (-item[1], item[0]))
        ],
        "by_module": {
            view.module: {"differing": view.differing, "decisions": view.decisions}
            for view in sorted(views, key=lambda view: view.module)
        },
        "importance_sample": {"decisions": sum(map(len, samples.values())), "repeats": repeats},
        "importance": [
            {
                "feature": each.feature,
                "changed_decisions": each.changed.share,
                "low": each.changed.low,
                "high": each.changed.high,
                "confidence_lost": each.confidence_lost,
            }
            for each in importances(asked, samples, seed, repeats)
        ],
        "formula": formula(asked.network) if isinstance(asked, QueriedNetwork) else None,
        "examples": [_example_json(each, demangled) for each in examples],
    }
    return _rounded(content)


def _example_json(example: ExplainedDecision, demangled: Mapping[str, str]) -> dict[str, Any]:
    reasons = example.reasons[:_EXAMPLE_REASONS]
    content = {
        "module": example.module,
        "function": example.function,
        "function_demangled": demangled.get(example.function, example.function),
        "decision": example.number,
        "policy_choice": example.policy,
        "heuristic_choice": example.heuristic,
        "probability": example.probability,
        "margin": example.margin,
        "features": {reason.feature: reason.value for reason in reasons},
        "compared_with": {reason.feature: reason.compared for reason in reasons},
        "adds": {reason.feature: reason.adds for reason in reasons},
    }
    if example.callee:
        content["callee"] = example.callee
        content["callee_demangled"] = demangled.get(example.callee, example.callee)
    return content


def _way(replayed: Replay, decision: int) -> tuple[str, str]:
    """The decisions of heuristic and policy; positions and numbers become "one" and "another"."""
    problem, heuristic = replayed.asked.problem, replayed.recorded.heuristic
    if problem.decision_kind == "continuous" or heuristic is None:
        return "one order", "another"
    theirs, ours = int(heuristic[decision]), int(replayed.policy[decision])
    first = problem.choice_names.get(theirs, problem.other_choice_name.format("one"))
    other = "one" if theirs in problem.choice_names else "another"
    return first, problem.choice_names.get(ours, problem.other_choice_name.format(other))


def _share_json(share: Share) -> dict[str, Any]:
    return {"count": int(share.count), "share": share.share, "low": share.low, "high": share.high}


def _rounded(value: Any) -> Any:
    """A JSON value with rounded numbers; None for infinities, which JSON lacks."""
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    if isinstance(value, float):
        return round(float(value), _DIGITS) if np.isfinite(value) else None
    return value
