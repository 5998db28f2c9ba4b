"""Which decision is credited with which bytes of code (inlining)."""

import collections
import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from mlgo.compiler.training_log import TrainingLog
from mlgo.score.function_scores import NON_FUNCTION_BYTES, FunctionScore, score_ratio
from mlgo.score.score import FunctionScores, bounded

#: Ancestors of a function beyond this many are not followed: what happens there says too little about one decision.
_MOST_ANCESTORS = 200

#: One unit of credit, in bytes: about one inlined call. Ours; the unit of EffectConfig.prior.
CREDIT_BYTES = 16.0

#: The name of all functions together. No function has a line feed in its name: it would end the caller's in the log.
WHOLE_MODULE = "\n"

#: (module, scores of one compile) -> bytes that count (code_size.py), by function or NON_FUNCTION_BYTES.
ByteCounter = Callable[[str, FunctionScores], dict[str, float]]


class CorpusCodeSize:
    """The score of a corpus by code size.

    The improvement of a module is minus the logarithm of the ratio of its sizes. A decision is credited with the change
    of the code that it can have changed: its caller, every function that the caller was inlined into, directly or not,
    and the callee, which may be gone. In units of CREDIT_BYTES saved. Where the log does not name call sites, every
    decision is credited with the whole module. Credits have no bound: the bytes of an image add up, so a policy is as
    good as the mean of its credits, and few large ones can decide its sign.

    Args: counter: which bytes count.
    """

    def __init__(self, counter: ByteCounter):
        self._count = counter

    def module_improvement(self, module, found, default):
        before, after = (math.fsum(self._count(module, scores).values()) for scores in (default, found))
        if not (before and after):
            return None
        return bounded(-math.log(score_ratio(before, after, offset=0.0, goal="minimize"))), 1.0

    def comparison_rows(self, module, functions):
        if not functions:
            return {}
        decisions = sum(score.decisions for score in functions.values())
        return {"": FunctionScore(decisions, math.fsum(self._count(module, functions).values()))}

    def credits_of(self, module, found, default, logs):
        """See CorpusScore.

        A caller is credited with the same functions in all compiles. Otherwise a caller that one compile inlines into
        many functions would be charged with everything that other decisions did to them. A callee counts with its mean
        size if it is still there, and with 0 if not.
        """
        graphs = [_inline_graph(log) for log in logs]
        callees, parents = _united(graph.callees for graph in graphs), _united(graph.parents for graph in graphs)
        sizes = [self._count(module, scores) for scores in (default, *found)]
        for each in sizes:
            each.pop(NON_FUNCTION_BYTES, None)
        mean_sizes = {
            name: math.fsum(have) / len(have)
            for name in set().union(*sizes)
            for have in [[each[name] for each in sizes if name in each]]
        }
        credits: list[dict[str, float]] = [{} for _ in logs]
        for caller in dict.fromkeys(name for graph in graphs for name in graph.callers):
            own = sorted(mean_sizes) if caller == WHOLE_MODULE else _with_ancestors(caller, parents)
            only_there = sorted(callees.get(caller, set()).difference(own))
            by_default, *by_policy = [
                math.fsum(
                    [each.get(name, 0.0) for name in own] + [mean_sizes[name] for name in only_there if name in each]
                )
                for each in sizes
            ]
            for credit, size in zip(credits, by_policy, strict=True):
                credit[caller] = (by_default - size) / CREDIT_BYTES
        return [(graph.callers, credit) for graph, credit in zip(graphs, credits, strict=True)]


@dataclasses.dataclass(frozen=True)
class _InlineGraph:
    """Of one log: the caller of each context, caller -> its callees, function -> functions that it was inlined into."""

    callers: tuple[str, ...]
    callees: dict[str, set[str]]
    parents: dict[str, set[str]]


def _inline_graph(log: TrainingLog) -> _InlineGraph:
    inlined = np.zeros(len(log.contexts), bool)
    np.logical_or.at(inlined, log.observation_context, np.asarray(log.actions).reshape(-1) != 0)
    callers: list[str] = []
    callees: dict[str, set[str]] = {}
    parents: dict[str, set[str]] = {}
    for name, taken in zip(log.contexts, inlined.tolist(), strict=True):
        # A compiler without the patch of `call_site` has one context for all.
        caller, callee = call_site(name) if "\n" in name else (WHOLE_MODULE, WHOLE_MODULE)
        callers.append(caller)
        callees.setdefault(caller, set()).add(callee)
        if taken:
            parents.setdefault(callee, set()).add(caller)
    return _InlineGraph(tuple(callers), callees, parents)


def _united(graphs: Iterable[Mapping[str, set[str]]]) -> dict[str, set[str]]:
    united: dict[str, set[str]] = {}
    for graph in graphs:
        for name, others in graph.items():
            united.setdefault(name, set()).update(others)
    return united


def _with_ancestors(caller: str, parents: Mapping[str, set[str]]) -> list[str]:
    """`caller` and the functions that it was inlined into, directly or not, sorted; the nearest of too many."""
    reached, waiting = {caller}, collections.deque([caller])
    while waiting and len(reached) <= _MOST_ANCESTORS:
        for parent in sorted(parents.get(waiting.popleft(), ())):
            if parent not in reached:
                reached.add(parent)
                waiting.append(parent)
    return sorted(reached)


def call_site(context: str) -> tuple[str, str]:
    """(caller, callee) of a context's name (patches/llvm, inlining_log_names_call_sites.patch)."""
    caller, _, callee = context.partition("\n")
    return caller, callee
