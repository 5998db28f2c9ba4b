"""Which decision is credited with which bytes of code (inlining)."""

import collections
import itertools
import math
from collections.abc import Callable, Mapping

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
        callees: dict[str, set[str]] = collections.defaultdict(set)
        parents: dict[str, set[str]] = collections.defaultdict(set)
        callers = [_callers_of(log, callees, parents) for log in logs]
        sizes = [self._count(module, scores) for scores in (default, *found)]
        for each in sizes:
            each.pop(NON_FUNCTION_BYTES, None)
        all_sizes: dict[str, list[float]] = collections.defaultdict(list)
        for each in sizes:
            for name, size in each.items():
                all_sizes[name].append(size)
        mean_sizes = {name: math.fsum(have) / len(have) for name, have in all_sizes.items()}
        credits: list[dict[str, float]] = [{} for _ in logs]
        for caller in dict.fromkeys(itertools.chain(*callers)):
            own = sorted(mean_sizes) if caller == WHOLE_MODULE else _with_ancestors(caller, parents)
            only_there = sorted(callees[caller].difference(own))

            def touched(each: Mapping[str, float], own=own, only_there=only_there) -> float:
                others = [mean_sizes[name] for name in only_there if name in each]
                return math.fsum([each.get(name, 0.0) for name in own] + others)

            by_default, *by_policy = map(touched, sizes)
            for credit, size in zip(credits, by_policy, strict=True):
                credit[caller] = (by_default - size) / CREDIT_BYTES
        return list(zip(callers, credits, strict=True))


def _callers_of(log: TrainingLog, callees: dict[str, set[str]], parents: dict[str, set[str]]) -> tuple[str, ...]:
    """The caller of each context. Adds to `callees` those of each caller, and to `parents` what inlined a function."""
    inlined = np.zeros(len(log.contexts), bool)
    np.logical_or.at(inlined, log.observation_context, np.asarray(log.actions).reshape(-1) != 0)
    callers: list[str] = []
    for name, taken in zip(log.contexts, inlined.tolist(), strict=True):
        # A compiler without the patch of `call_site` has one context for all.
        caller, callee = call_site(name) if "\n" in name else (WHOLE_MODULE, WHOLE_MODULE)
        callers.append(caller)
        callees[caller].add(callee)
        if taken:
            parents[callee].add(caller)
    return tuple(callers)


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
